// The post-start hooks that the controllers answer for in `/readyz` (SPEC.md "Health endpoints"). `rbac/bootstrap-roles`
// is not among them: it belongs to whoever writes the roles.

/** Hooks with work of ours behind them: done when every object that names the hook is there. */
export const HOOK_BOOTSTRAP = 'bootstrap-controller';
export const HOOK_PRIORITY_CLASSES = 'scheduling/bootstrap-system-priority-classes';
export const HOOK_AUTHENTICATION_INFO = 'start-cluster-authentication-info-controller';

export const HOOKS_WITH_OBJECTS: readonly string[] = [HOOK_BOOTSTRAP, HOOK_PRIORITY_CLASSES, HOOK_AUTHENTICATION_INFO];

/** Hooks that start what follows the store's stream: done when the stream has been taken up. To be spelled. */
export const HOOKS_WITH_FEED: readonly string[] = [
  'start-@short-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-@short-aggregator-informers',
  'apiservice-registration-controller',
  'apiservice-status-available-controller',
  '@short-apiserver-autoregistration',
  'apiservice-openapi-controller',
];

/** The name of a hook's check. */
export function checkName(hook: string): string {
  return `poststarthook/${hook}`;
}
