// The checks in `/readyz` of those who follow definitions and APIServices (SPEC.md "Health endpoints"): each is done once the
// store has told of those; `autoregister-completion` when every built-in group is registered.
import type { Dialect } from '../../../config/dialect.ts';
import { checkName } from '../hooks.ts';
import type { ControllersOptions } from '../options.ts';
import type { HookState } from '../protocol.ts';
import { storageVersionResource } from '../storage-versions.ts';

const OF_DEFINITIONS: readonly string[] = [
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
];
const OF_API_SERVICES: readonly string[] = [
  'start-@short-aggregator-informers',
  'apiservice-registration-controller',
  'apiservice-status-available-controller',
  '@short-apiserver-autoregistration',
];
const REGISTERED = 'autoregister-completion';
const OF_DOCUMENTS = 'apiservice-openapi-controller';
const STORED = 'built-in-resources-storage-version-updater';

/** The version that APIServices are written in; undefined where they are not served. */
export function apiServiceVersion(
  dialect: Dialect,
  { isServed }: Pick<ControllersOptions, 'isServed'>,
): string | undefined {
  const group = dialect.spell('apiregistration.@group');
  return ['v1', 'v1beta1'].find((version) => isServed({ group, version, resource: 'apiservices' }));
}

/** Whether it is said which version each type is stored in: under its gates, and where the resource for it is served. */
export function keepsStorageVersions(
  dialect: Dialect,
  { isServed, keepsStorageVersions: isOpen }: Pick<ControllersOptions, 'isServed' | 'keepsStorageVersions'>,
): boolean {
  return isOpen && isServed(storageVersionResource(dialect));
}

/** The names of the checks around those of the objects that are made at the start. */
export function aroundChecks(
  dialect: Dialect,
  objects: readonly string[],
  { hasApiServices, hasStorageVersions }: { readonly hasApiServices: boolean; readonly hasStorageVersions: boolean },
): readonly string[] {
  return [
    ...OF_DEFINITIONS.map(checkName),
    ...objects,
    ...(hasApiServices
      ? [...OF_API_SERVICES.map((name) => checkName(dialect.spell(name))), REGISTERED, checkName(OF_DOCUMENTS)]
      : []),
    ...(hasStorageVersions ? [checkName(STORED)] : []),
  ];
}

/** How far those have come who follow the store. `missing`: a group and version that is not registered, if one is. */
interface Progress {
  readonly isUnderWay: boolean;
  readonly registration: { readonly missing: string | undefined } | undefined;
  readonly storageVersions: { readonly isDone: boolean } | undefined;
}

/** The checks, as far as they have come. */
export function aroundStates(
  dialect: Dialect,
  objects: readonly HookState[],
  { isUnderWay, registration, storageVersions }: Progress,
): readonly HookState[] {
  const known = new Map(objects.map((state) => [state.name, state]));
  const names = aroundChecks(
    dialect,
    objects.map(({ name }) => name),
    { hasApiServices: registration !== undefined, hasStorageVersions: storageVersions !== undefined },
  );
  return names.map((name) => {
    const state = known.get(name) ?? { name, done: isUnderWay, failure: '' };
    if (name === checkName(STORED)) return { ...state, done: storageVersions?.isDone === true };
    if (name !== REGISTERED || registration?.missing === undefined) return state;
    return { name, done: false, failure: `missing APIService: ${registration.missing}` };
  });
}
