// Strategic merge patches made of two objects, for tests: knows how the lists of some types merge from a table of its own
// and shares nothing with what applies the patches.
import type { JsonObject } from '../../../../api/json/json-value.ts';

/** How a list merges: by the key of its elements, as a set of scalars, or not at all. */
type ListRule = { readonly by: string } | 'set' | 'replace';

/** By the path of members that leads to the list; elements of lists add nothing to it. */
const LISTS: Readonly<Record<string, ListRule>> = {
  'metadata.finalizers': 'set',
  'metadata.ownerReferences': { by: 'uid' },
  'spec.containers': { by: 'name' },
  'spec.containers.env': { by: 'name' },
  'spec.containers.ports': { by: 'containerPort' },
  'spec.containers.volumeMounts': { by: 'mountPath' },
  'spec.containers.volumeDevices': { by: 'devicePath' },
  'spec.containers.args': 'replace',
  'spec.containers.envFrom': 'replace',
  'spec.initContainers': { by: 'name' },
  'spec.imagePullSecrets': { by: 'name' },
  'spec.hostAliases': { by: 'ip' },
  'spec.hostAliases.hostnames': 'replace',
  'spec.tolerations': 'replace',
  'spec.topologySpreadConstraints': { by: 'topologyKey' },
  'spec.volumes': { by: 'name' },
  'spec.volumes.secret.items': 'replace',
  'spec.ports': { by: 'port' },
  'spec.podCIDRs': 'set',
  'spec.externalIPs': 'replace',
  secrets: { by: 'name' },
  imagePullSecrets: 'replace',
  'status.conditions': { by: 'type' },
  'status.addresses': { by: 'type' },
};
/** Objects of which a patch says which members stay: one of several kinds, whose members exclude each other. */
const RETAINED: ReadonlySet<string> = new Set(['spec.volumes', 'spec.strategy']);

/** The patch that makes `after` of `before`, order and all. Empty: they are the same. */
export function strategicPatch(before: JsonObject, after: JsonObject, path = ''): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const earlier = before[name];
    const below = path === '' ? name : `${path}.${name}`;
    if (isSame(earlier, value)) continue;
    if (isObject(earlier) && isObject(value)) patch[name] = strategicPatch(earlier, value, below);
    else if (Array.isArray(earlier) && Array.isArray(value))
      Object.assign(patch, listPatch(name, below, earlier, value));
    else patch[name] = value;
  }
  if (RETAINED.has(path) && Object.keys(patch).length > 0) {
    for (const name of Object.keys(patch)) if (patch[name] === null) delete patch[name];
    patch.$retainKeys = Object.keys(after);
  }
  return patch;
}

function listPatch(name: string, path: string, before: readonly unknown[], after: readonly unknown[]): JsonObject {
  const rule = LISTS[path] ?? 'replace';
  if (rule === 'replace') return { [name]: after };
  if (rule === 'set') {
    return {
      [name]: after.filter((value) => !before.includes(value)),
      [`$deleteFromPrimitiveList/${name}`]: before.filter((value) => !after.includes(value)),
      [`$setElementOrder/${name}`]: after,
    };
  }
  const { by } = rule;
  const [old, next] = [before as readonly JsonObject[], after as readonly JsonObject[]];
  const changes: JsonObject[] = [];
  for (const element of next) {
    const earlier = old.find((other) => other[by] === element[by]);
    const change = earlier === undefined ? element : strategicPatch(earlier, element, path);
    if (Object.keys(change).length > 0) changes.push({ ...change, [by]: element[by] });
  }
  for (const element of old) {
    if (!next.some((other) => other[by] === element[by])) changes.push({ [by]: element[by], $patch: 'delete' });
  }
  return { [name]: changes, [`$setElementOrder/${name}`]: next.map((element) => ({ [by]: element[by] })) };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSame(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((value, index) => isSame(value, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return left === right;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => name in right && isSame(left[name], right[name]))
  );
}
