// The post-start hooks that the controllers answer for in `/readyz` (SPEC.md "Health endpoints"): each is done when every
// object that names it is there. A hook without objects (its types are not served) is no hook.

/** The namespaces, the control plane's own service, and where it is reached. */
export const HOOK_BOOTSTRAP = 'bootstrap-controller';
export const HOOK_PRIORITY_CLASSES = 'scheduling/bootstrap-system-priority-classes';
export const HOOK_AUTHENTICATION_INFO = 'start-cluster-authentication-info-controller';

export const HOOK_BOOTSTRAP_ROLES = 'rbac/bootstrap-roles';

/** The flow schemas and priority levels that every cluster has. */
export const HOOK_FLOW_CONTROL = 'priority-and-fairness-config-producer';

const HOOKS: readonly string[] = [
  HOOK_BOOTSTRAP,
  HOOK_BOOTSTRAP_ROLES,
  HOOK_PRIORITY_CLASSES,
  HOOK_FLOW_CONTROL,
  HOOK_AUTHENTICATION_INFO,
];

/**
 * Done once their objects are there: one that cannot be set right, since a webhook refuses it say, keeps nobody waiting, least of all
 * who would take that webhook away. Nor does one that is gone since the first start, and that a webhook or a quota keeps from being made
 * again. The others promise what their objects say.
 */
const GOES_ON_WITHOUT_CORRECTIONS: ReadonlySet<string> = new Set([HOOK_BOOTSTRAP, HOOK_AUTHENTICATION_INFO]);

/** Whether a hook is not done before its objects have been set right. */
export function waitsForCorrections(hook: string): boolean {
  return !GOES_ON_WITHOUT_CORRECTIONS.has(hook);
}

/** The hooks that objects name, in order, each once. */
export function hooksOf(objects: Iterable<{ readonly hook: string }>): readonly string[] {
  const named = new Set(Array.from(objects, ({ hook }) => hook));
  return HOOKS.filter((hook) => named.has(hook));
}

/** The name of a hook's check. */
export function checkName(hook: string): string {
  return `poststarthook/${hook}`;
}
