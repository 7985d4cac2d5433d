// Applies that are taken, one a row: what becomes of the object, and who owns what afterwards.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { CONFIG_MAP, containers, DEPLOYMENT, data, image, NODE, POD, SERVICE, type Step } from './apply-steps.ts';

export interface Case {
  readonly does: string;
  readonly kind: string;
  /** Each must succeed. */
  readonly steps: readonly Step[];
  /** Members of the object afterwards, as far as they matter. */
  readonly content?: JsonObject;
  /** Owners by field, in the order of the entries; `a` stands for a/Apply, `A` for `a/Update`. */
  readonly owners?: Readonly<Record<string, readonly string[]>>;
  /** All fields of one manager. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /** The last step made no difference. */
  readonly unchanged?: boolean;
}

export const CASES: readonly Case[] = [
  {
    does: 'creates the object it finds missing',
    kind: CONFIG_MAP,
    steps: [['apply', 'a', data({ x: '1' })]],
    content: { data: { x: '1' } },
    owners: { '.data': [], '.data.x': ['a'] },
  },
  {
    does: 'owns what it says and nothing else of a new object',
    kind: DEPLOYMENT,
    steps: [['apply', 'a', { spec: { replicas: 2, selector: { matchLabels: { x: 'y' } } } }]],
    fields: { a: ['.spec.replicas', '.spec.selector'] },
  },
  {
    does: 'changes nothing when it is repeated',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'a', data({ x: '1' })],
    ],
    unchanged: true,
  },
  {
    does: 'changes what it owns',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'a', data({ x: '2' })],
    ],
    content: { data: { x: '2' } },
    owners: { '.data.x': ['a'] },
  },
  {
    does: 'takes away what it had said and says no more',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1', y: '2' })],
      ['apply', 'a', data({ y: '2' })],
    ],
    content: { data: { y: '2' } },
    fields: { a: ['.data.y'] },
  },
  {
    does: 'leaves what it never said',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      [
        'update',
        'u',
        (object) => {
          object.data.z = '3';
        },
      ],
      ['apply', 'a', data({ x: '1' })],
    ],
    content: { data: { x: '1', z: '3' } },
    owners: { '.data.z': ['U'] },
    unchanged: true,
  },
  {
    does: 'shares a field that it sets to the same value',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'b', data({ x: '1' })],
    ],
    owners: { '.data.x': ['a', 'b'] },
  },
  {
    does: 'keeps a field that another applier still has',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1', y: '2' })],
      ['apply', 'b', data({ x: '1' })],
      ['apply', 'a', data({ y: '2' })],
    ],
    content: { data: { x: '1', y: '2' } },
    owners: { '.data.x': ['b'], '.data.y': ['a'] },
  },
  {
    does: 'removes a field when its last owner gives it up',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1', y: '2' })],
      ['apply', 'b', data({ x: '1', z: '3' })],
      ['apply', 'a', data({ y: '2' })],
      ['apply', 'b', data({ z: '3' })],
    ],
    content: { data: { y: '2', z: '3' } },
  },
  {
    does: 'keeps a field that someone has updated since',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1', y: '2' })],
      [
        'update',
        'u',
        (object) => {
          object.data.x = '9';
        },
      ],
      ['apply', 'a', data({ y: '2' })],
    ],
    content: { data: { x: '9', y: '2' } },
    owners: { '.data.x': ['U'] },
  },
  {
    does: 'removes the manager that says nothing any more',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'b', data({ y: '1' })],
      ['apply', 'a', {}],
    ],
    content: { data: { y: '1' } },
    fields: { a: [] },
  },
  {
    does: 'takes the last member out of a map that another wants to be empty',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'b', data({})],
      ['apply', 'a', data({})],
    ],
    owners: { '.data.x': [], '.data': ['a'] },
  },
  {
    does: 'resets a field to its default when it gives it up',
    kind: DEPLOYMENT,
    steps: [
      ['apply', 'a', { spec: { replicas: 5, minReadySeconds: 3 } }],
      ['apply', 'a', { spec: { minReadySeconds: 3 } }],
    ],
    owners: { '.spec.replicas': [] },
    content: { spec: { replicas: 1, minReadySeconds: 3 } },
  },
  {
    does: 'takes a field over by force from everyone',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1', y: '1' })],
      ['apply', 'b', data({ x: '1' })],
      ['force', 'c', data({ x: '2' })],
    ],
    content: { data: { x: '2', y: '1' } },
    owners: { '.data.x': ['c'], '.data.y': ['a'] },
    fields: { b: [] },
  },
  {
    does: 'does not take a field by force that has the same value',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['force', 'b', data({ x: '1' })],
    ],
    owners: { '.data.x': ['a', 'b'] },
  },
  {
    does: 'takes the place of an updater that is its own',
    kind: CONFIG_MAP,
    steps: [
      ['create', 'a', data({ x: '1' })],
      ['force', 'a', data({ x: '2' })],
    ],
    owners: { '.data.x': ['a'], '.data': ['A'] },
  },
  {
    does: 'merges lists by key and puts new elements last',
    kind: POD,
    steps: [
      ['apply', 'a', containers(image('x', '1'), image('y', '1'))],
      ['apply', 'b', containers(image('z', '1'))],
    ],
    owners: {
      '.spec.containers[name="x"]': ['a'],
      '.spec.containers[name="z"]': ['b'],
      '.spec.containers[name="z"].image': ['b'],
    },
    fields: {
      b: ['.spec.containers[name="z"]', '.spec.containers[name="z"].image', '.spec.containers[name="z"].name'],
    },
  },
  {
    does: 'removes an element it gives up, with the defaults in it',
    kind: POD,
    steps: [
      ['apply', 'a', containers(image('x', '1'), image('y', '1'))],
      ['apply', 'a', containers(image('y', '1'))],
    ],
    owners: { '.spec.containers[name="x"]': [] },
    fields: {
      a: ['.spec.containers[name="y"]', '.spec.containers[name="y"].image', '.spec.containers[name="y"].name'],
    },
  },
  {
    does: 'removes an element it gives up, with what an updater has put in it',
    kind: POD,
    steps: [
      ['apply', 'a', containers(image('x', '1'), image('y', '1'))],
      [
        'update',
        'u',
        (object) => {
          object.spec.containers[0].tty = true;
        },
      ],
      ['apply', 'a', containers(image('y', '1'))],
    ],
    fields: { u: [] },
    owners: { '.spec.containers[name="x"].tty': [] },
  },
  {
    does: 'keeps an element that another applier has too',
    kind: POD,
    steps: [
      ['apply', 'a', containers({ ...image('x', '1'), stdin: true }, image('y', '1'))],
      ['apply', 'b', containers(image('x', '1'))],
      ['apply', 'a', containers(image('y', '1'))],
    ],
    owners: { '.spec.containers[name="x"].image': ['b'], '.spec.containers[name="x"].stdin': [] },
  },
  {
    does: 'finds the port of a number and the default protocol',
    kind: POD,
    steps: [
      ['apply', 'a', containers({ ...image('x', '1'), ports: [{ containerPort: 80 }] })],
      ['apply', 'b', containers({ name: 'x', ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }] })],
    ],
    owners: {
      '.spec.containers[name="x"].ports[containerPort=80,protocol="TCP"]': ['a', 'b'],
      '.spec.containers[name="x"].ports[containerPort=80,protocol="TCP"].name': ['b'],
    },
  },
  {
    does: 'keeps two ports of one number apart',
    kind: SERVICE,
    steps: [
      [
        'apply',
        'a',
        {
          spec: {
            ports: [
              { port: 53, name: 't' },
              { port: 53, protocol: 'UDP', name: 'u' },
            ],
          },
        },
      ],
      ['apply', 'a', { spec: { ports: [{ port: 53, protocol: 'UDP', name: 'u' }] } }],
    ],
    fields: {
      a: [
        '.spec.ports[port=53,protocol="UDP"]',
        '.spec.ports[port=53,protocol="UDP"].name',
        '.spec.ports[port=53,protocol="UDP"].port',
        '.spec.ports[port=53,protocol="UDP"].protocol',
      ],
    },
  },
  {
    does: 'merges sets and removes what nobody wants any more',
    kind: NODE,
    steps: [
      ['apply', 'a', { spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } }],
      ['apply', 'b', { spec: { podCIDRs: ['10.0.1.0/24', '10.0.2.0/24'] } }],
      ['apply', 'a', { spec: { podCIDRs: ['10.0.3.0/24'] } }],
    ],
    content: { spec: { podCIDRs: ['10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24'] } },
    owners: { '.spec.podCIDRs[="10.0.1.0/24"]': ['b'], '.spec.podCIDRs[="10.0.3.0/24"]': ['a'] },
  },
  {
    does: 'merges finalizers as a set',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', { metadata: { finalizers: ['x/a'] } }],
      ['apply', 'b', { metadata: { finalizers: ['x/b'] } }],
    ],
    content: { metadata: { finalizers: ['x/a', 'x/b'] } },
    owners: { '.metadata.finalizers[="x/a"]': ['a'], '.metadata.finalizers[="x/b"]': ['b'] },
  },
  {
    does: 'replaces lists that are owned as a whole',
    kind: POD,
    steps: [
      ['apply', 'a', containers({ name: 'x', args: ['1', '2'] })],
      ['apply', 'a', containers({ name: 'x', args: ['3'] })],
    ],
    owners: { '.spec.containers[name="x"].args': ['a'] },
  },
  {
    does: 'replaces label selectors as a whole',
    kind: DEPLOYMENT,
    steps: [
      ['apply', 'a', { spec: { selector: { matchLabels: { a: '1', b: '2' } } } }],
      ['apply', 'a', { spec: { selector: { matchLabels: { c: '3' } } } }],
    ],
    fields: { a: ['.spec.selector'] },
  },
  {
    does: 'keeps labels of others',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', { metadata: { labels: { a: '1' } } }],
      ['apply', 'b', { metadata: { labels: { b: '1' } } }],
      ['apply', 'a', {}],
    ],
    content: { metadata: { labels: { b: '1' } } },
  },
  {
    does: 'keeps the metadata of an object when it gives up the labels',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', { metadata: { labels: { a: '1' } }, data: { x: '1' } }],
      ['apply', 'a', data({ x: '1' })],
    ],
    content: { data: { x: '1' } },
  },
  {
    does: 'does not own the name, the version or other metadata of the server',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'a', { metadata: { name: 'it', resourceVersion: '1', generation: 7 }, data: { x: '1' } }],
    ],
    fields: { a: ['.data.x'] },
  },
  {
    does: 'does not own metadata that says nothing',
    kind: CONFIG_MAP,
    steps: [['apply', 'a', { metadata: {}, data: { x: '1' } }]],
    fields: { a: ['.data.x'] },
  },
  {
    does: 'keeps the time of a manager that changes nothing',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'b', data({ y: '1' })],
      ['apply', 'a', data({ x: '1' })],
    ],
    unchanged: true,
  },
  {
    does: 'takes amounts for the same that are written differently',
    kind: POD,
    steps: [
      ['apply', 'a', containers({ name: 'x', resources: { limits: { cpu: '1000m' } } })],
      ['apply', 'b', containers({ name: 'x', resources: { limits: { cpu: '1' } } })],
      ['apply', 'b', containers({ name: 'x', resources: { limits: { cpu: '1000m' } } })],
    ],
    owners: { '.spec.containers[name="x"].resources.limits.cpu': ['a', 'b'] },
    unchanged: true,
  },
  {
    does: 'owns a zero that is left out of the object',
    kind: POD,
    steps: [['apply', 'a', { spec: { hostNetwork: false, containers: [{ name: 'x' }] } }]],
    owners: { '.spec.hostNetwork': ['a'] },
  },
  {
    does: 'turns a field to zero',
    kind: POD,
    steps: [
      ['apply', 'a', { spec: { hostNetwork: true, containers: [{ name: 'x' }] } }],
      ['apply', 'a', { spec: { hostNetwork: false, containers: [{ name: 'x' }] } }],
    ],
    owners: { '.spec.hostNetwork': ['a'] },
  },
  {
    does: 'makes an empty object that it asks for, and owns it',
    kind: POD,
    steps: [['apply', 'a', { spec: { containers: [{ name: 'x' }], volumes: [{ name: 'v', emptyDir: {} }] } }]],
    owners: { '.spec.volumes[name="v"].emptyDir': ['a'], '.spec.volumes': [] },
  },
  {
    does: 'gives up a whole branch with the defaults in it',
    kind: DEPLOYMENT,
    steps: [
      ['apply', 'a', { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3 } } } }],
      ['apply', 'a', { spec: { strategy: { type: 'Recreate' } } }],
    ],
    owners: { '.spec.strategy.rollingUpdate.maxSurge': [], '.spec.strategy.type': ['a'] },
  },
  {
    does: 'does not own the status, nor set it',
    kind: DEPLOYMENT,
    steps: [['apply', 'a', { spec: { replicas: 2 }, status: { replicas: 7 } }]],
    fields: { a: ['.spec.replicas'] },
  },
  {
    does: 'owns the status through its endpoint, and nothing else',
    kind: DEPLOYMENT,
    steps: [
      ['apply', 'a', { spec: { replicas: 2 } }],
      ['applyStatus', 'b', { spec: { replicas: 5 }, status: { replicas: 7 } }],
    ],
    fields: { a: ['.spec.replicas'], b: ['.status.replicas'] },
    content: { status: { replicas: 7 } },
  },
  {
    does: 'keeps what a manager says of the spec when it applies the status',
    kind: DEPLOYMENT,
    steps: [
      ['apply', 'a', { spec: { replicas: 2 } }],
      ['applyStatus', 'a', { status: { replicas: 7 } }],
      ['apply', 'a', { spec: { replicas: 2 } }],
    ],
    fields: { a: ['.spec.replicas', '.status.replicas'] },
    unchanged: true,
  },
  {
    does: 'gives what nobody tracked to the one before the first apply',
    kind: CONFIG_MAP,
    steps: [
      ['untracked', data({ x: '1', y: '2' })],
      ['apply', 'a', data({ x: '1' })],
    ],
    owners: { '.data.x': ['a', 'before-first-apply/Update'], '.data.y': ['before-first-apply/Update'] },
  },
  {
    does: 'takes one element of elements that share their key',
    kind: POD,
    steps: [
      [
        'create',
        'u',
        containers({
          name: 'x',
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        }),
      ],
      ['force', 'a', containers({ name: 'x', env: [{ name: 'A', value: '3' }] })],
    ],
    owners: { '.spec.containers[name="x"].env[name="A"].value': ['a'] },
  },
  {
    does: 'owns a kind without a schema by member, and its lists as a whole',
    kind: 'custom',
    steps: [
      ['apply', 'a', { spec: { size: 1, list: [{ name: 'x' }], deep: { er: true } } }],
      ['apply', 'b', { spec: { colour: 'red' } }],
      ['apply', 'a', { spec: { size: 1, deep: {} } }],
    ],
    content: { spec: { size: 1, deep: {}, colour: 'red' } },
    fields: { a: ['.spec', '.spec.deep', '.spec.size'], b: ['.spec', '.spec.colour'] },
  },
  {
    does: 'leaves a map be for which it says null',
    kind: CONFIG_MAP,
    steps: [
      ['apply', 'a', data({ x: '1' })],
      ['apply', 'b', { data: null }],
    ],
    content: { data: { x: '1' } },
  },
  {
    does: 'makes null of what it had said and now says is null',
    kind: 'custom',
    steps: [
      ['apply', 'a', { spec: { size: 1, box: { x: 1, inner: { y: 1 } } } }],
      ['apply', 'a', { spec: { size: 1, box: null } }],
    ],
    content: { spec: { size: 1, box: null } },
    fields: { a: ['.spec', '.spec.box', '.spec.size'] },
  },
  {
    does: 'makes null of what is empty and which it says is null',
    kind: 'custom',
    steps: [
      ['apply', 'a', { spec: { box: {} } }],
      ['apply', 'a', { spec: { box: null } }],
    ],
    content: { spec: { box: null } },
  },
  {
    does: 'leaves what others have in a map for which it says null',
    kind: 'custom',
    steps: [
      ['apply', 'a', { spec: { box: { x: 1 } } }],
      ['apply', 'b', { spec: { box: { y: 1 } } }],
      ['apply', 'a', { spec: { box: null } }],
    ],
    content: { spec: { box: { y: 1 } } },
  },
  {
    does: 'makes null of a list that comes as it is, as of a text',
    kind: 'custom',
    steps: [
      ['apply', 'a', { spec: { list: [1], text: 'x', box: { x: 1 } } }],
      ['force', 'b', { spec: { list: null, text: null, box: null } }],
    ],
    content: { spec: { list: null, text: null, box: { x: 1 } } },
    owners: { '.spec.list': ['b'], '.spec.text': ['b'], '.spec.box.x': ['a'] },
  },
];
