// What managers say of an object in stories about who owns what: of each type some fields, some values, and lists and maps of all kinds.
// Every map, list and struct has something that is always said in it, with one value: where a manager owns nothing more in one, 1.20
// takes it for the owner of all that is there.
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Dice } from '../fuzz/generate/dice.ts';

/** A type whose objects several managers write. */
export interface OwnedKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly said: (dice: Dice) => JsonObject;
}

type Said = Readonly<Record<string, unknown>>;

/** Some of the members, each with one of its values. */
function some(dice: Dice, members: Readonly<Record<string, readonly unknown[]>>): Said {
  return Object.fromEntries(
    Object.entries(members)
      .filter(() => dice.oneIn(2))
      .map(([name, values]) => [name, dice.pick(values)]),
  );
}

/** The first, and some of the others, in either order. */
function list<T>(dice: Dice, keys: readonly T[], element: (key: T) => unknown = (key) => key): readonly unknown[] {
  const chosen = keys.filter((_, at) => at === 0 || dice.oneIn(2)).map(element);
  return dice.oneIn(3) ? chosen.reverse() : chosen;
}

export function saidMetadata(dice: Dice): Said {
  return {
    labels: { a: '1', ...some(dice, { b: ['1', '2'], c: ['1'] }) },
    annotations: { p: '1', ...some(dice, { q: ['1', '2'] }) },
    finalizers: list(dice, ['example.com/a', 'example.com/b']),
  };
}

function container(dice: Dice, name: string): Said {
  return {
    name,
    image: dice.pick(['i:1', 'i:2']),
    ...some(dice, { args: [['a'], ['a', 'b']] }),
    env: list(dice, ['A', 'B'], (variable) => ({ name: variable, value: dice.pick(['1', '2']) })),
    ports: list(dice, [80, 81], (containerPort) => ({
      containerPort,
      ...some(dice, { protocol: containerPort === 80 ? ['TCP'] : ['TCP', 'UDP'] }),
    })),
    resources: { limits: { memory: '1Gi', ...some(dice, { cpu: ['1', '2'] }) } },
    volumeMounts: list(dice, ['/a', '/b'], (mountPath) => ({
      mountPath,
      name: 'v',
      ...some(dice, { readOnly: [true] }),
    })),
  };
}

function deployment(dice: Dice): JsonObject {
  const spec = {
    containers: list(dice, ['c', 'd'], (name) => container(dice, name)),
    volumes: [{ name: 'v', hostPath: { path: '/a', ...some(dice, { type: ['Directory', 'File'] }) } }],
    nodeSelector: { x: '1', ...some(dice, { y: ['2'] }) },
    hostAliases: list(dice, ['1.1.1.1', '2.2.2.2'], (ip) => ({ ip, hostnames: [dice.pick(['g', 'h'])] })),
    ...some(dice, { terminationGracePeriodSeconds: [10, 30], tolerations: [[{ key: 'a', operator: 'Exists' }]] }),
  };
  return {
    spec: {
      selector: { matchLabels: { l: '1' } },
      template: { metadata: { labels: { l: '1', ...some(dice, { m: ['1', '2'] }) } }, spec },
      ...some(dice, { replicas: [1, 2, 3], paused: [true], minReadySeconds: [4, 5] }),
    },
  };
}

function service(dice: Dice): JsonObject {
  const port = (number: number): unknown => ({
    port: number,
    name: `n${number}`,
    protocol: number === 80 ? 'TCP' : dice.pick(['TCP', 'UDP']),
    ...some(dice, { targetPort: [80, 8080, 'http'] }),
  });
  return {
    spec: {
      clusterIP: 'None',
      selector: { a: '1', ...some(dice, { b: ['1', '2'] }) },
      ports: list(dice, [80, 81], port),
      ...some(dice, { sessionAffinity: ['None', 'ClientIP'], externalIPs: [['1.1.1.1'], ['1.1.1.1', '2.2.2.2']] }),
    },
  };
}

function thing(dice: Dice): JsonObject {
  const element = (key: string): unknown => ({
    key,
    ...some(dice, { proto: key === 'a' ? ['TCP'] : ['TCP', 'UDP'], v: [1, 2] }),
    w: { x: 1, ...some(dice, { y: [1, 2] }) },
  });
  const embedded = {
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'n', labels: { z: '1', ...some(dice, { a: ['1', '2'] }) } },
    data: { z: 1, ...some(dice, { a: [1, 2] }) },
  };
  return {
    spec: {
      set: list(dice, ['a', 'b', 'c']),
      map: list(dice, ['a', 'b'], element),
      granular: { a: '1', ...some(dice, { b: ['1', '2'] }) },
      open: { z: 1, ...some(dice, { a: [1, 'x', [1, 2]], c: [{ e: 1 }, { e: 1, d: 2 }] }) },
      embedded,
      struct: { z: 1, ...some(dice, { n: [1, 2], s: ['a', 'b'], given: [5, 6] }) },
      ...some(dice, {
        atomic: [['a'], ['a', 'b'], ['b', 'a']],
        whole: [{ a: '1' }, { a: '1', b: '2' }],
        nullable: ['x', 'y'],
        given: ['d', 'e'],
      }),
    },
  };
}

export const OWNED_GROUP = 'owned.example.com';

export const OWNED_KINDS: readonly OwnedKind[] = [
  {
    ...{ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' },
    said: (dice) => ({
      data: { z: '0', ...some(dice, { a: ['1', '2'], b: ['1', '2'], c: ['x'] }) },
      binaryData: { y: 'YQ==', ...some(dice, { x: ['YQ==', 'Yg=='] }) },
    }),
  },
  { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', said: deployment },
  { group: '', version: 'v1', plural: 'services', kind: 'Service', said: service },
  { group: OWNED_GROUP, version: 'v1', plural: 'things', kind: 'Thing', said: thing },
];

const TEXT = { type: 'string' };
const NUMBER = { type: 'integer' };
const TEXTS = { type: 'object', additionalProperties: TEXT };

const SPEC = {
  type: 'object',
  properties: {
    set: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' },
    atomic: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'atomic' },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key', 'proto'],
      items: {
        type: 'object',
        required: ['key'],
        properties: {
          key: TEXT,
          proto: { ...TEXT, default: 'TCP' },
          v: NUMBER,
          w: { type: 'object', additionalProperties: NUMBER },
        },
      },
    },
    whole: { ...TEXTS, 'x-kubernetes-map-type': 'atomic' },
    granular: TEXTS,
    nullable: { ...TEXT, nullable: true },
    given: { ...TEXT, default: 'd' },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    embedded: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    struct: { type: 'object', properties: { z: NUMBER, n: NUMBER, s: TEXT, given: { ...NUMBER, default: 5 } } },
  },
};

/** Of the things. */
export const OWNED_DEFINITION: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${OWNED_GROUP}` },
  spec: {
    group: OWNED_GROUP,
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: SPEC } } },
      },
    ],
  },
};
