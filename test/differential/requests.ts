// Requests one by one, odd in their paths, methods, queries, headers and bodies, several at once. Whatever may write is a dry run: each
// is made again by the run's seed and its number alone.
import type { JsonObject } from '../../api/json/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { type Dice, diceOf } from '../fuzz/generate/dice.ts';
import { changed, collectionOf, nameIn, validObject } from './cases.ts';
import type { Asked } from './report.ts';

const META = 'g=meta.k8s.io';
const ACCEPTED = [
  ...['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', '*/*', 'text/html', 'a', ','],
  ...['application/xml,application/json', 'application/json;q=0.5,application/yaml;q=0.9', 'application/json;q=x'],
  ...['v=v1', 'v=v1beta1', 'v=v2'].map((version) => `application/json;as=Table;${version};${META}`),
  ...['PartialObjectMetadata', 'PartialObjectMetadataList', 'Nothing'].map(
    (shape) => `application/json;as=${shape};v=v1;${META}`,
  ),
  `application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;${META}`,
  `application/json;as=Table;v=v1;${META},application/json`,
];
const PATCH_TYPES = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'].map(
  (type) => `application/${type}`,
);
const CONTENT_TYPES = [
  ...[
    'application/json',
    'application/json; charset=utf-8',
    'application/yaml',
    'text/plain',
    'a',
    'application/json;',
  ],
  ...PATCH_TYPES,
];
const BOOLEANS = ['1', 'true', 'True', '0', 'false', '', 'x'];
const NUMBERS = ['0', '1', '2', '-1', '', 'x', '1.5', '1e3', '0x1', ' 1', '99999999999999999999'];
const LABELS = [
  ...['a=b', 'a==b', 'a!=b', 'a in (b,c)', 'a notin (b)', 'a', '!a', 'a>1', 'a<x', 'a=', '=b', 'a=b,', ',a', 'a in ()'],
  ...[
    'a in (b',
    'A/b=c',
    'a/b/c=d',
    '-a=b',
    'a=-b',
    `a=${'x'.repeat(64)}`,
    'a = b',
    'a=b=c',
    '! a',
    'in in (in)',
    '(a)',
  ],
];
const FIELDS = [
  ...['metadata.name=x', 'metadata.name!=x', 'metadata.namespace=x', 'metadata.name', 'metadata.name>a', '=', ','],
  ...['metadata.name=a,metadata.name=b', 'metadata.name=a\\,b', 'metadata.name=a\\', 'spec.nodeName=', 'type=Opaque'],
  ...['status.phase!=Active', 'spec.unschedulable=false', 'involvedObject.name=x', 'spec.x=1', 'Metadata.Name=a'],
];
const LISTING: Readonly<Record<string, readonly string[]>> = {
  labelSelector: LABELS,
  fieldSelector: FIELDS,
  limit: NUMBERS,
  continue: ['x', '', 'e30', 'eyJ2IjoieCJ9', '===='],
  resourceVersion: ['0', '1', '', 'x', '-1', '1.5', '0x1'],
  resourceVersionMatch: ['Exact', 'NotOlderThan', '', 'exact', 'x'],
  timeoutSeconds: NUMBERS,
};
const WRITING: Readonly<Record<string, readonly string[]>> = {
  dryRun: ['All', 'x', 'all', 'All '],
  fieldManager: ['m', '', 'a b', 'é', 'x'.repeat(128), 'x'.repeat(129)],
};
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  GET: { ...LISTING, pretty: BOOLEANS },
  POST: WRITING,
  PUT: WRITING,
  PATCH: { ...WRITING, force: BOOLEANS },
  DELETE: {
    ...LISTING,
    dryRun: WRITING.dryRun!,
    uid: ['x', ''],
    gracePeriodSeconds: ['0', '1', '-1', 'x', '1.5', ''],
    propagationPolicy: ['Orphan', 'Background', 'Foreground', 'x', ''],
    orphanDependents: BOOLEANS,
  },
};
const METHODS = [
  ...['GET', 'GET', 'GET', 'POST', 'PUT', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'DELETE', 'DELETE'],
  ...['HEAD', 'OPTIONS'],
];
const SUBRESOURCES = [
  'status',
  'scale',
  'log',
  'eviction',
  'binding',
  'token',
  'approval',
  'finalize',
  'none',
  'Status',
];
const SEGMENTS = [
  'none',
  '',
  'A',
  'a%20b',
  'a+b',
  '%C3%A9',
  'x'.repeat(254),
  'namespaces',
  'default',
  'a_b',
  'x:y',
  '~',
];
const PATHS = [
  ...[
    '/',
    '/api',
    '/api/',
    '/apis',
    '/apis/apps',
    '/apis/none',
    '/apis/apps/v1',
    '/apis/apps/v9',
    '/api/v1',
    '/api/v2',
  ],
  ...['/version', '/healthz', '/healthz/ping', '/healthz/none', '/livez', '/readyz/ping', '/none', '/apis/apps/v9/x'],
  ...['/apis/apiextensions.k8s.io/v1', '/openid/v1/jwks', '/.well-known/openid-configuration', '//', '/swagger.json'],
];
const BODIES = [
  ...['', ' ', 'null', '[]', '{}', '""', '1', 'x', '{', '{"kind":1}', '{"kind":"x"}', '{"apiVersion":"v1"}'],
  ...['{"apiVersion":"a/b/c","kind":"X"}', '{"kind":"Pod","apiVersion":"v2"}', '{"metadata":[]}', '[{}]', '{"a":1,}'],
];

/** The request of a number. `kept`: objects that both servers have. */
export function requestOf(
  seed: number,
  index: number,
  types: readonly KnownType[],
  kept: ReadonlyMap<KnownType, readonly JsonObject[]>,
): Asked {
  const dice = diceOf(seed, 'request', index);
  const method = dice.pick(METHODS);
  if (dice.oneIn(12)) return { group: '', plural: 'paths', method, path: dice.pick(PATHS), ...manner(dice) };
  const type = dice.pick(types);
  const { group, plural, version } = type;
  const object = dice.pick([undefined, ...(kept.get(type) ?? [])]);
  const place = placeOf(dice, type, method, object === undefined ? 'none' : nameIn(object));
  const path = dice.oneIn(10) ? oddPath(dice, place) : place;
  const query = queryOf(dice, method);
  const address = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return {
    ...{ group, plural, version, method, path: address },
    ...manner(dice),
    ...bodyOf(dice, type, method, object),
  };
}

function placeOf(dice: Dice, type: KnownType, method: string, name: string): string {
  const all = dice.oneIn(10) ? collectionOf({ ...type, namespaced: false }) : collectionOf(type);
  const isNamed = method === 'POST' ? dice.oneIn(8) : method === 'GET' || method === 'DELETE' ? dice.oneIn(2) : true;
  if (!isNamed && !dice.oneIn(20)) return all;
  if (!dice.oneIn(5)) return `${all}/${name}`;
  const own = [...type.subresources.keys()].filter((one) => !/exec|attach|portforward|proxy/.test(one));
  return `${all}/${name}/${dice.pick([...own, dice.pick(SUBRESOURCES)])}`;
}

/** A path with a part that is another, one too many, or missing. */
function oddPath(dice: Dice, path: string): string {
  const parts = path.split('/');
  const at = dice.between(1, parts.length - 1);
  const odd = dice.pick(SEGMENTS);
  const changes: readonly (() => unknown)[] = [
    () => parts.splice(at, 1, odd),
    () => parts.splice(at, 0, odd),
    () => parts.splice(at, 1),
    () => parts.push(odd),
    () => parts.splice(at, 1, parts[at]!.toUpperCase()),
  ];
  dice.pick(changes)();
  return `/${parts.slice(1).join('/')}`;
}

function queryOf(dice: Dice, method: string): string[] {
  const known = PARAMETERS[method] ?? PARAMETERS.GET!;
  const parts = Array.from({ length: dice.oneIn(3) ? 0 : 1 + dice.small(2) }, () => {
    const name = dice.pick(Object.keys(known));
    return `${dice.oneIn(40) ? name.toUpperCase() : name}=${encodeURIComponent(dice.pick(known[name]!))}`;
  });
  // Of several dry runs all have to be valid, and one is enough.
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? parts : ['dryRun=All', ...parts];
}

/** Who asks, and for what form of answer. */
function manner(dice: Dice): Pick<Asked, 'accept' | 'token'> {
  return {
    ...(dice.oneIn(3) ? { accept: dice.pick(ACCEPTED) } : {}),
    ...(dice.oneIn(20) ? { token: dice.pick(['', 'none']) } : {}),
  };
}

function bodyOf(
  dice: Dice,
  type: KnownType,
  method: string,
  object: JsonObject | undefined,
): Pick<Asked, 'body' | 'contentType'> {
  if (method === 'DELETE' && dice.oneIn(4)) return { body: { dryRun: ['All'], ...dice.pick(DELETIONS) } };
  if (method !== 'POST' && method !== 'PUT' && method !== 'PATCH') return {};
  const valid = object ?? validObject(type, dice);
  const whole = dice.oneIn(3) ? changed(valid, dice, 1 + dice.small(2)) : valid;
  const contentType =
    method === 'PATCH' ? dice.pick(dice.oneIn(12) ? CONTENT_TYPES : PATCH_TYPES) : dice.pick(usual(dice));
  const body = dice.oneIn(5) ? dice.pick(BODIES) : JSON.stringify(whole);
  return { body: Buffer.from(body), contentType };
}

function usual(dice: Dice): readonly string[] {
  return dice.oneIn(10) ? CONTENT_TYPES : ['application/json'];
}

const DELETIONS: readonly object[] = [
  ...[{}, { kind: 'DeleteOptions', apiVersion: 'v1' }, { kind: 'Pod', apiVersion: 'v1' }, { gracePeriodSeconds: -1 }],
  ...[
    { propagationPolicy: 'x' },
    { propagationPolicy: 'Orphan', orphanDependents: true },
    { preconditions: { uid: 'x' } },
  ],
];
