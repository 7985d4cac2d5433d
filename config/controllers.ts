// The background loops of the server that can be switched, by the names that the original's controller manager has for them. Data
// only; they are in actors/controllers.

const CONTROLLER_NAMES = [
  'clusterrole-aggregation',
  'csrapproving',
  'csrcleaner',
  'csrsigning',
  'garbagecollector',
  'namespace',
  'nodelifecycle',
  'podgc',
  'pv-protection',
  'pvc-protection',
  'resourcequota',
  'root-ca-cert-publisher',
  'serviceaccount',
  'serviceaccount-token',
  'tokencleaner',
] as const;

/** Controllers of the original's that are not here: whoever switches them off says nothing wrong. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'attachdetach',
  'bootstrapsigner',
  'cloud-node-lifecycle',
  'cronjob',
  'daemonset',
  'deployment',
  'disruption',
  'endpoint',
  'endpointslice',
  'endpointslicemirroring',
  'ephemeral-volume',
  'horizontalpodautoscaling',
  'job',
  'nodeipam',
  'persistentvolume-binder',
  'persistentvolume-expander',
  'replicaset',
  'replicationcontroller',
  'route',
  'service',
  'statefulset',
  'storage-version-gc',
  'ttl',
  'ttl-after-finished',
]);

export type ControllerName = (typeof CONTROLLER_NAMES)[number];

const ALL = '*';

/** What is wrong with a list of them as `--controllers` has it; undefined: nothing. */
export function controllersProblem(listed: readonly string[]): string | undefined {
  const isKnown = (name: string): boolean => (CONTROLLER_NAMES as readonly string[]).includes(name);
  const isTakenAway = (one: string): boolean =>
    one.startsWith('-') && (isKnown(one.slice(1)) || OTHER_NAMES.has(one.slice(1)));
  const unknown = listed.find((one) => one !== ALL && !isKnown(one) && !isTakenAway(one));
  if (unknown === undefined) return undefined;
  if (OTHER_NAMES.has(unknown))
    return `--controllers: ${JSON.stringify(unknown)} does not exist here: it can run beside this server, and be left out of the list`;
  return `--controllers: ${JSON.stringify(unknown)} is none of ${CONTROLLER_NAMES.join(', ')}`;
}

/** Those that run: of an element that names one and one that takes it away the first counts, and both before `*`. */
export function runningControllers(listed: readonly string[]): readonly ControllerName[] {
  return CONTROLLER_NAMES.filter((name) => {
    const said = listed.find((one) => one === name || one === `-${name}`);
    return said === undefined ? listed.includes(ALL) : said === name;
  });
}
