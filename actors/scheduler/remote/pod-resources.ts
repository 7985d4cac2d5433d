// What each pod requests and may use at most, as metrics: for whoever plans with what the scheduler reckons with. The server is asked
// for the pods each time, since nothing else needs their limits.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asObject, asText, partAt, textAt } from '../../../api/json/object-fields.ts';
import { AmountSum, type ResourceAmounts } from '../pods/resource-amounts.ts';
import type { ApiServer } from './api-server.ts';

const PAGE = 500;
const MILLIS = 1000;
type Family = 'request' | 'limit';
const FAMILIES: readonly (readonly [family: Family, what: string])[] = [
  ['request', 'requested by workloads'],
  ['limit', 'limit for workloads'],
];
const HELP =
  'on the cluster, broken down by pod. This shows the resource usage the scheduler and node agents expect ' +
  'per pod for resources along with the unit for the resource if any.';

/** The text of both families, of all pods that a list of `path` has; `prefix` begins their names. Rejects where the server lists none. */
export async function podResourcesText(server: Pick<ApiServer, 'list'>, path: string, prefix: string): Promise<string> {
  const lines: Record<Family, string[]> = { request: [], limit: [] };
  let next = '';
  do {
    const { status, object } = await server.list(`${path}&limit=${PAGE}${next}`);
    if (status !== 200)
      throw new Error(`the list of pods was answered ${status} ${textAt(object, 'message')}`.trimEnd());
    for (const pod of asList(object.items)) addPod(asObject(pod), prefix, lines);
    const token = textAt(partAt(object, 'metadata'), 'continue');
    next = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
  } while (next !== '');
  return FAMILIES.filter(([family]) => lines[family].length > 0)
    .map(([family, what]) => {
      const name = `${prefix}_pod_resource_${family}`;
      return `# HELP ${name} [ALPHA] Resources ${what} ${HELP}\n# TYPE ${name} gauge\n${lines[family].join('\n')}\n`;
    })
    .join('');
}

function addPod(pod: JsonObject, prefix: string, lines: Record<Family, string[]>): void {
  const metadata = partAt(pod, 'metadata');
  const spec = partAt(pod, 'spec');
  const { priority } = spec;
  const whose = [
    label('namespace', metadata.namespace),
    label('pod', metadata.name),
    label('node', spec.nodeName),
    label('scheduler', spec.schedulerName),
    label('priority', priority === undefined || priority === null ? '' : String(priority)),
  ].join();
  for (const [family, amounts] of Object.entries(totalsOf(spec)) as [Family, ResourceAmounts][]) {
    for (const [resource, unit, amount] of shown(amounts)) {
      if (amount === 0) continue;
      const labels = `${whose},${label('resource', resource)},${label('unit', unit)}`;
      lines[family].push(`${prefix}_pod_resource_${family}{${labels}} ${amount}`);
    }
  }
}

/** Containers together, or the largest of those that run before them; overhead comes on top, of limits where there is one. */
function totalsOf(spec: JsonObject): Record<Family, ResourceAmounts> {
  const [request, limit] = [new AmountSum(), new AmountSum()];
  const resourcesIn = (container: unknown) => partAt(asObject(container), 'resources');
  for (const container of asList(spec.containers)) {
    request.add(partAt(resourcesIn(container), 'requests'));
    limit.add(partAt(resourcesIn(container), 'limits'));
  }
  for (const container of asList(spec.initContainers)) {
    request.raise(partAt(resourcesIn(container), 'requests'));
    limit.raise(partAt(resourcesIn(container), 'limits'));
  }
  const overhead = partAt(spec, 'overhead');
  request.add(overhead);
  const limited = new Set(shown(limit.amounts()).flatMap(([resource, , amount]) => (amount === 0 ? [] : [resource])));
  limit.add(Object.fromEntries(Object.entries(overhead).filter(([resource]) => limited.has(resource))));
  return { request: request.amounts(), limit: limit.amounts() };
}

function shown(amounts: ResourceAmounts): readonly (readonly [resource: string, unit: string, amount: number])[] {
  return [
    ['cpu', 'cores', amounts.milliCpu / MILLIS],
    ['memory', 'bytes', amounts.memoryBytes],
    ['ephemeral-storage', 'bytes', amounts.ephemeralStorageBytes],
    ...[...amounts.scalars].map(([resource, amount]) => [resource, unitOf(resource), amount] as const),
  ];
}

function unitOf(resource: string): string {
  if (resource === 'storage' || resource.startsWith('hugepages-')) return 'bytes';
  return resource.startsWith('attachable-volumes-') ? 'integer' : '';
}

function label(name: string, value: unknown): string {
  const text = asText(value).replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
  return `${name}="${text}"`;
}
