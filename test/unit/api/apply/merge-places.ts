// Every sort of place that ownership knows, one a row: how a configuration says it, how it is named, how an update changes
// it. The rules of merging hold at each (merge-rules.ts).
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { CONFIG_MAP, DEPLOYMENT, POD, SERVICE } from './apply-steps.ts';
import type { Writable } from './live-object.ts';

export type Member = 'p' | 'q';
export type Values = Partial<Readonly<Record<Member, string>>>;

export interface MergePlace {
  readonly of: string;
  readonly kind: string;
  /** Whether there is a second place beside it that is owned by itself. */
  readonly hasNeighbour: boolean;
  /** False where the place is there or not, and holds nothing. */
  readonly hasValues: boolean;
  /** Whoever lets it go lets go of all that is in it. */
  readonly isElement: boolean;
  /** A configuration that says these members and nothing else that matters. */
  readonly given: (values: Values) => JsonObject;
  readonly path: (member: Member) => string;
  /** What an object has there; undefined: nothing. */
  readonly read: (object: Writable, member: Member) => unknown;
  /** What is read of a value. */
  readonly held: (value: string) => unknown;
  readonly change: (object: Writable, member: Member, value: string | undefined) => void;
}

/** Members of one object, under names of their own. */
function fields(
  of: string,
  kind: string,
  wrap: (members: JsonObject) => JsonObject,
  holder: (object: Writable) => Writable | undefined,
  prefix: string,
  names: Readonly<Record<Member, string>> = { p: 'p', q: 'q' },
): MergePlace {
  return {
    of,
    kind,
    hasNeighbour: true,
    hasValues: true,
    isElement: false,
    given: (values) => wrap(Object.fromEntries(entriesOf(values).map(([member, value]) => [names[member], value]))),
    path: (member) => `${prefix}.${names[member]}`,
    read: (object, member) => holder(object)?.[names[member]],
    held: (value) => value,
    change: (object, member, value) => {
      if (value === undefined) delete holder(object)![names[member]];
      else holder(object)![names[member]] = value;
    },
  };
}

/** Elements of a list, found by name, with a value each. */
function elements(
  of: string,
  wrap: (list: readonly JsonObject[]) => JsonObject,
  holder: (object: Writable) => Writable,
  list: string,
  prefix: string,
  field: string,
): MergePlace {
  const found = (object: Writable, member: Member): Writable | undefined =>
    (holder(object)[list] as Writable[] | undefined)?.find(({ name }) => name === member);
  return {
    of,
    kind: POD,
    hasNeighbour: true,
    hasValues: true,
    isElement: true,
    given: (values) => wrap(entriesOf(values).map(([name, value]) => ({ name, [field]: value }))),
    path: (member) => `${prefix}[name="${member}"].${field}`,
    read: (object, member) => found(object, member)?.[field],
    held: (value) => value,
    change: (object, member, value) => {
      if (value === undefined) {
        holder(object)[list] = (holder(object)[list] as Writable[]).filter(({ name }) => name !== member);
      } else found(object, member)![field] = value;
    },
  };
}

/** One place that is owned as a whole. */
function whole(
  of: string,
  kind: string,
  wrap: (value: unknown) => JsonObject,
  holder: (object: Writable) => Writable | undefined,
  path: string,
  held: (value: string) => unknown,
): MergePlace {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return {
    of,
    kind,
    hasNeighbour: false,
    hasValues: true,
    isElement: false,
    given: ({ p }) => wrap(p === undefined ? undefined : held(p)),
    path: () => path,
    // One that is always written is null where there is none.
    read: (object) => holder(object)?.[name] ?? undefined,
    held,
    change: (object, _member, value) => {
      if (value === undefined) delete holder(object)![name];
      else holder(object)![name] = held(value);
    },
  };
}

/** A set, whose values are there or not. */
function set(of: string, kind: string, prefix: string, textOf: (member: Member) => string): MergePlace {
  const [, parent = '', name = ''] = prefix.split('.');
  const list = (object: Writable): string[] => object[parent]?.[name] ?? [];
  return {
    of,
    kind,
    hasNeighbour: true,
    hasValues: false,
    isElement: true,
    given: (values) => ({ [parent]: { [name]: entriesOf(values).map(([member]) => textOf(member)) } }),
    path: (member) => `${prefix}[="${textOf(member)}"]`,
    read: (object, member) => list(object).includes(textOf(member)) || undefined,
    held: () => true,
    change: (object, member, value) => {
      const others = list(object).filter((other) => other !== textOf(member));
      object[parent][name] = value === undefined ? others : [...others, textOf(member)];
    },
  };
}

function entriesOf(values: Values): readonly (readonly [Member, string])[] {
  return Object.entries(values) as (readonly [Member, string])[];
}

/** An empty map would be said to be empty. */
const unlessEmpty = (object: JsonObject, members: JsonObject): JsonObject =>
  Object.keys(members).length === 0 ? {} : object;
const inContainer = (members: object): JsonObject => ({ spec: { containers: [{ name: 'c', ...members }] } });
const container = (object: Writable): Writable => object.spec.containers[0];
const present = (name: string, value: unknown): JsonObject => (value === undefined ? {} : { [name]: value });
const CONTAINER = '.spec.containers[name="c"]';

export const MERGE_PLACES: readonly MergePlace[] = [
  fields(
    'a member of a map',
    CONFIG_MAP,
    (data) => unlessEmpty({ data }, data),
    ({ data }) => data,
    '.data',
  ),
  fields(
    'a label',
    CONFIG_MAP,
    (labels) => unlessEmpty({ metadata: { labels } }, labels),
    ({ metadata }) => metadata?.labels,
    '.metadata.labels',
  ),
  fields(
    'a field of an object deep inside',
    DEPLOYMENT,
    (spec) => unlessEmpty({ spec: { template: { spec } } }, spec),
    ({ spec }) => spec.template?.spec,
    '.spec.template.spec',
    { p: 'hostname', q: 'subdomain' },
  ),
  fields('a field of an element', POD, inContainer, container, CONTAINER, { p: 'image', q: 'workingDir' }),
  fields(
    'a field of an element with two keys',
    SERVICE,
    (members) => ({ spec: { ports: [{ port: 80, protocol: 'UDP', ...members }] } }),
    ({ spec }) => spec.ports[0],
    '.spec.ports[port=80,protocol="UDP"]',
    { p: 'name', q: 'appProtocol' },
  ),
  fields(
    'a field of an element whose second key is left to its default',
    SERVICE,
    (members) => ({ spec: { ports: [{ port: 80, ...members }] } }),
    ({ spec }) => spec.ports[0],
    '.spec.ports[port=80,protocol="TCP"]',
    { p: 'name', q: 'appProtocol' },
  ),
  fields(
    'a field of a type without schema',
    'custom',
    (spec) => ({ spec }),
    ({ spec }) => spec,
    '.spec',
  ),
  elements(
    'an element of a list',
    (list) => ({ spec: { containers: [...list] } }),
    ({ spec }) => spec,
    'containers',
    '.spec.containers',
    'image',
  ),
  elements(
    'an element of a list in an element of a list',
    (env) => inContainer({ env: [...env] }),
    container,
    'env',
    `${CONTAINER}.env`,
    'value',
  ),
  set('a value of a set', CONFIG_MAP, '.metadata.finalizers', (member) => `x/${member}`),
  whole(
    'a list that is owned as a whole',
    POD,
    (args) => inContainer(present('args', args)),
    container,
    `${CONTAINER}.args`,
    (value) => [value, 'other'],
  ),
  whole(
    'an object that is owned as a whole',
    DEPLOYMENT,
    (selector) => ({ spec: present('selector', selector) }),
    ({ spec }) => spec,
    '.spec.selector',
    (value) => ({ matchLabels: { x: value } }),
  ),
  whole(
    'a list of a type without schema',
    'custom',
    (list) => ({ spec: present('list', list) }),
    ({ spec }) => spec,
    '.spec.list',
    (value) => [{ name: value }],
  ),
];
