// Rules of references from a pod to its own fields and its containers' resources, in environments and in volumes.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asObject } from '../../json/object-fields.ts';
import { qualifiedNameProblems } from '../../metadata/formats.ts';
import type { Report } from '../report.ts';

export interface ObjectFieldSelector {
  readonly apiVersion?: string;
  readonly fieldPath?: string;
}

export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource?: string;
  readonly divisor?: string;
}

const SUBSCRIPT = /^(.+?)\['(.*)'\]$/s;

/** The maps of which one entry can be shown. */
const MAPS: ReadonlySet<string> = new Set(['metadata.labels', 'metadata.annotations']);

/** What else clients know as fields of pods; each place shows some of them. */
const POD_FIELDS: ReadonlySet<string> = new Set([
  ...MAPS,
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
]);

const VERSION = 'v1';
/** What older clients call the node's name. */
const NODE_NAME_ONCE = 'spec.host';

/** A field path that stands below `fieldRef`: one of `fields`, or one label or annotation. */
export function checkFieldPath(
  { apiVersion = VERSION, fieldPath = '' }: ObjectFieldSelector,
  fields: readonly string[],
  at: Report,
): void {
  const path = 'fieldRef.fieldPath';
  if (fieldPath === '') {
    at.required(path);
    return;
  }
  if (apiVersion !== VERSION) {
    at.invalid(path, fieldPath, `error converting fieldPath: unsupported pod version: ${apiVersion}`);
    return;
  }
  const field = fieldPath === NODE_NAME_ONCE ? 'spec.nodeName' : fieldPath;
  if (fields.includes(field)) return;
  const [, map = '', key] = SUBSCRIPT.exec(fieldPath) ?? [];
  if (key === undefined) {
    if (POD_FIELDS.has(field)) at.notSupported(path, field, fields);
    else at.invalid(path, fieldPath, `error converting fieldPath: field label not supported: ${fieldPath}`);
  } else if (MAPS.has(map)) {
    at.problems('fieldRef', key, qualifiedNameProblems(map === 'metadata.annotations' ? key.toLowerCase() : key));
  } else {
    const detail = `error converting fieldPath: field label does not support subscript: ${fieldPath}`;
    at.invalid(path, fieldPath, detail);
  }
}

const RESOURCE_FIELDS: readonly string[] = ['cpu', 'ephemeral-storage', 'memory'].flatMap((name) => [
  `limits.${name}`,
  `requests.${name}`,
]);
const RESOURCE_FIELDS_SHOWN = [...RESOURCE_FIELDS].sort();

/** What more may be shown with the gate DownwardAPIHugePages. */
const HUGE_PAGES = ['limits.hugepages-', 'requests.hugepages-'];

const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** A resource of a container that stands below `resourceFieldRef`. In a volume the container must be named. */
export function checkResourceField(selector: ResourceFieldSelector, isVolume: boolean, at: Report): void {
  const { containerName = '', resource = '', divisor = '0' } = selector;
  if (isVolume && containerName === '') at.required('resourceFieldRef.containerName');
  else if (resource === '') at.required('resourceFieldRef.resource');
  else if (!isShown(resource, at)) {
    at.notSupported('resourceFieldRef.resource', resource, RESOURCE_FIELDS_SHOWN);
  }
  if (!isShown(resource, at) || divisor === '0' || divisor === '' || divisor === null) return;
  const allowed = resource.endsWith('cpu') ? CPU_DIVISORS : BYTE_DIVISORS;
  if (!allowed.includes(divisor))
    at.invalid('resourceFieldRef.divisor', resource, `only the divisors ${allowed.join(', ')} are for it`);
}

function isShown(resource: string, at: Report): boolean {
  if (RESOURCE_FIELDS.includes(resource)) return true;
  return isOfHugePages(resource) && (at.settings.gate('DownwardAPIHugePages') || showed(at.stored));
}

function isOfHugePages(resource: unknown): boolean {
  return typeof resource === 'string' && HUGE_PAGES.some((prefix) => resource.startsWith(prefix));
}

/** What is known of stored objects: each is looked through once, however many resources a new one shows. */
const shows = new WeakMap<JsonObject, boolean>();

/** Whether the stored object, a pod or what has a template of pods, was let in while the gate was open. */
function showed(stored: JsonObject | undefined): boolean {
  if (stored === undefined) return false;
  let known = shows.get(stored);
  if (known === undefined) {
    known = showsHugePages(stored);
    shows.set(stored, known);
  }
  return known;
}

function showsHugePages(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(showsHugePages);
  if (!isJsonObject(value)) return false;
  if (isOfHugePages(asObject(value.resourceFieldRef).resource)) return true;
  return Object.values(value).some(showsHugePages);
}
