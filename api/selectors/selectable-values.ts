// The values of a stored object that field selectors can ask for, as texts, in the order of KnownType.storedFields.
// Computed once, when the object is written.
import { isJsonObject, type JsonObject, memberOf } from '../json/json-value.ts';

type Extract = (object: JsonObject) => string;

/** The object's value of each field; empty texts where there is none. */
export function selectableValues(object: JsonObject, selectableFields: readonly string[]): string[] {
  let extractors = EXTRACTORS_BY_FIELDS.get(selectableFields);
  if (extractors === undefined) {
    extractors = selectableFields.map(extractorOf);
    EXTRACTORS_BY_FIELDS.set(selectableFields, extractors);
  }
  const values = new Array<string>(extractors.length);
  for (let index = 0; index < extractors.length; index++) values[index] = extractors[index]!(object);
  return values;
}

/** By the array's identity: a registry has one array a type. */
const EXTRACTORS_BY_FIELDS = new WeakMap<readonly string[], readonly Extract[]>();

/** Fields whose value is not simply what stands at their path. */
const SPECIAL_FIELDS: ReadonlyMap<string, Extract> = new Map<string, Extract>([
  ['spec.host', (object) => textAt(object, ['spec', 'nodeName'])],
  ['spec.unschedulable', (object) => textAt(object, ['spec', 'unschedulable']) || 'false'],
  ['status.replicas', (object) => textAt(object, ['status', 'replicas']) || '0'],
  // Jobs count successes; the cron jobs that accept the field as well have no such count.
  ['status.successful', (object) => (object.kind === 'CronJob' ? '' : textAt(object, ['status', 'succeeded']) || '0')],
  ['status.podIP', (object) => textAt(object, ['status', 'podIP']) || (podIps(object)[0] ?? '')],
  ['status.podIPs', (object) => podIps(object).join(',')],
  ['source', eventSource],
  ['reportingComponent', reportingComponent],
  ['reportingController', reportingComponent],
]);

function extractorOf(field: string): Extract {
  const special = SPECIAL_FIELDS.get(field);
  if (special !== undefined) return special;
  const path = field.split('.');
  const other = EVENT_SUBJECTS[path[0]!];
  if (other === undefined || path.length === 1) return (object) => textAt(object, path);
  const otherPath = [other, ...path.slice(1)];
  return (object) => textAt(object, object[other] === undefined ? path : otherPath);
}

/** What an event is about has another name in each of the two groups events are served in. */
const EVENT_SUBJECTS: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  involvedObject: 'regarding',
  regarding: 'involvedObject',
});

function reportingComponent(event: JsonObject): string {
  return textAt(event, ['reportingComponent']) || textAt(event, ['reportingController']);
}

/** The component that reported, where the event names no source of the older kind. */
function eventSource(event: JsonObject): string {
  return (
    textAt(event, ['source', 'component']) ||
    textAt(event, ['deprecatedSource', 'component']) ||
    reportingComponent(event)
  );
}

function podIps(pod: JsonObject): readonly string[] {
  const list = memberOf(pod.status, 'podIPs');
  if (!Array.isArray(list)) return [];
  return list.map((entry) => asText(memberOf(entry, 'ip'))).filter((ip) => ip !== '');
}

function textAt(object: JsonObject, path: readonly string[]): string {
  let current: unknown = object;
  for (const segment of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, segment)) return '';
    current = current[segment];
  }
  return asText(current);
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
