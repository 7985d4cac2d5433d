// Strategic merge patches: what merging by the schema makes of lists, what the directives do, what is refused, and that
// neither the document nor the patch is changed.
import test from 'ava';
import type { JsonObject } from '../../../api/json-value.ts';
import { applyStrategicMergePatch } from '../../../api/patch/strategic-merge-patch.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { isStatusError } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { frozen } from './sample-type.ts';

const schema = schemaOf(DIALECTS.orch);
const POD_SPEC = 'core/v1.PodSpec';
const CONTAINER = 'core/v1.Container';
const META = 'meta/v1.ObjectMeta';

interface Case {
  readonly does: string;
  readonly type: string | undefined;
  readonly document: JsonObject;
  readonly patch: unknown;
  /** The result, or the code of the refusal. */
  readonly expected: JsonObject | number;
}

const MERGES: readonly Case[] = [
  {
    does: 'merges objects and leaves the rest',
    type: 'core/v1.Pod',
    document: { spec: { nodeName: 'n', hostname: 'h' }, metadata: { name: 'a' } },
    patch: { spec: { hostname: 'i' } },
    expected: { spec: { nodeName: 'n', hostname: 'i' }, metadata: { name: 'a' } },
  },
  {
    does: 'removes members that are null',
    type: POD_SPEC,
    document: { nodeName: 'n', hostname: 'h' },
    patch: { nodeName: null, subdomain: null },
    expected: { hostname: 'h' },
  },
  {
    does: 'drops nulls below what is new',
    type: 'core/v1.Pod',
    document: {},
    patch: { spec: { nodeName: null, hostname: 'h', securityContext: { runAsUser: null } } },
    expected: { spec: { hostname: 'h', securityContext: {} } },
  },
  {
    does: 'merges maps and removes their keys',
    type: META,
    document: { labels: { a: '1', b: '2' } },
    patch: { labels: { b: null, c: '3' } },
    expected: { labels: { a: '1', c: '3' } },
  },
  {
    does: 'merges elements by their key and puts new ones in front of those it does not name',
    type: POD_SPEC,
    document: {
      containers: [
        { name: 'a', image: 'a:1', stdin: true },
        { name: 'b', image: 'b:1' },
      ],
    },
    patch: { containers: [{ name: 'a', image: 'a:2' }, { name: 'c' }] },
    expected: { containers: [{ name: 'a', image: 'a:2', stdin: true }, { name: 'c' }, { name: 'b', image: 'b:1' }] },
  },
  {
    does: 'keeps an element that it does not name before the one it stood before',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
    patch: { containers: [{ name: 'b', image: 'x' }] },
    expected: { containers: [{ name: 'a' }, { name: 'b', image: 'x' }, { name: 'c' }] },
  },
  {
    does: 'creates a merging list',
    type: POD_SPEC,
    document: {},
    patch: { containers: [{ name: 'a', image: null, stdin: true }] },
    expected: { containers: [{ name: 'a', stdin: true }] },
  },
  {
    does: 'leaves a list be when merging an empty one',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }] },
    patch: { containers: [] },
    expected: { containers: [{ name: 'a' }] },
  },
  {
    does: 'removes a list by null',
    type: POD_SPEC,
    document: { volumes: [{ name: 'a' }] },
    patch: { volumes: null },
    expected: {},
  },
  {
    does: 'replaces lists that do not merge',
    type: CONTAINER,
    document: { args: ['a', 'b'] },
    patch: { args: ['c'] },
    expected: { args: ['c'] },
  },
  {
    does: 'replaces lists of objects without a merge key',
    type: POD_SPEC,
    document: { tolerations: [{ key: 'a' }] },
    patch: { tolerations: [{ key: 'b' }] },
    expected: { tolerations: [{ key: 'b' }] },
  },
  {
    does: 'merges lists of scalars as sets',
    type: META,
    document: { finalizers: ['a', 'b'] },
    patch: { finalizers: ['c', 'a'] },
    expected: { finalizers: ['c', 'a', 'b'] },
  },
  {
    does: 'merges lists inside elements',
    type: POD_SPEC,
    document: { containers: [{ name: 'a', env: [{ name: 'X', value: '1' }] }] },
    patch: {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'X', value: '2' },
            { name: 'Y', value: '3' },
          ],
        },
      ],
    },
    expected: {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'X', value: '2' },
            { name: 'Y', value: '3' },
          ],
        },
      ],
    },
  },
  {
    does: 'merges elements by numbers',
    type: CONTAINER,
    document: { ports: [{ containerPort: 80, name: 'http' }] },
    patch: { ports: [{ containerPort: 80, hostPort: 8080 }, { containerPort: 81 }] },
    expected: { ports: [{ containerPort: 80, name: 'http', hostPort: 8080 }, { containerPort: 81 }] },
  },
  {
    does: 'tells a number from a text',
    type: CONTAINER,
    document: { ports: [{ containerPort: 80 }] },
    patch: { ports: [{ containerPort: '80', name: 'x' }] },
    expected: { ports: [{ containerPort: '80', name: 'x' }, { containerPort: 80 }] },
  },
  {
    does: 'merges into the port of the same protocol where numbers repeat',
    type: CONTAINER,
    document: {
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 't' },
        { containerPort: 53, protocol: 'UDP', name: 'u' },
      ],
    },
    patch: { ports: [{ containerPort: 53, protocol: 'UDP', name: 'v' }] },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 't' },
        { containerPort: 53, protocol: 'UDP', name: 'v' },
      ],
    },
  },
  {
    does: 'takes a port without protocol for one of the default protocol',
    type: CONTAINER,
    document: {
      ports: [
        { containerPort: 53, protocol: 'UDP', name: 'u' },
        { containerPort: 53, protocol: 'TCP', name: 't' },
      ],
    },
    patch: { ports: [{ containerPort: 53, name: 'v' }] },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'UDP', name: 'u' },
        { containerPort: 53, protocol: 'TCP', name: 'v' },
      ],
    },
  },
  {
    does: 'adds two ports of one number',
    type: CONTAINER,
    document: {},
    patch: {
      ports: [
        { containerPort: 53, protocol: 'TCP' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'TCP' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    },
  },
  {
    does: 'changes the protocol of the only port of a number',
    type: CONTAINER,
    document: { ports: [{ containerPort: 53, protocol: 'TCP', name: 'dns' }] },
    patch: { ports: [{ containerPort: 53, protocol: 'UDP' }] },
    expected: { ports: [{ containerPort: 53, protocol: 'UDP', name: 'dns' }] },
  },
  {
    does: 'keeps one of repeated scalars',
    type: META,
    document: { finalizers: ['a', 'a', 'b'] },
    patch: { finalizers: ['b', 'b'] },
    expected: { finalizers: ['a', 'b'] },
  },
  {
    does: 'replaces a scalar by an object and an object by a scalar',
    type: undefined,
    document: { a: 1, b: { c: 2 } },
    patch: { a: { d: null, e: 3 }, b: 4 },
    expected: { a: { e: 3 }, b: 4 },
  },
  {
    does: 'patches what no schema names like a merge patch',
    type: undefined,
    document: { containers: [{ name: 'a' }], x: { y: 1 } },
    patch: { containers: [{ name: 'b' }], x: { z: 2 } },
    expected: { containers: [{ name: 'b' }], x: { y: 1, z: 2 } },
  },
  {
    does: 'replaces an object whose strategy is to be replaced',
    type: 'policy/v1.PodDisruptionBudgetSpec',
    document: { selector: { matchLabels: { a: '1' } } },
    patch: { selector: { matchLabels: { b: '2' } } },
    expected: { selector: { matchLabels: { b: '2' } } },
  },
];

const DIRECTIVES: readonly Case[] = [
  {
    does: '$patch: replace takes the object as it is given',
    type: POD_SPEC,
    document: { securityContext: { runAsUser: 1, fsGroup: 2 } },
    patch: { securityContext: { $patch: 'replace', runAsUser: 3 } },
    expected: { securityContext: { runAsUser: 3 } },
  },
  {
    does: '$patch: delete empties an object',
    type: POD_SPEC,
    document: { securityContext: { runAsUser: 1 } },
    patch: { securityContext: { $patch: 'delete' } },
    expected: { securityContext: {} },
  },
  {
    does: '$patch: merge merges',
    type: POD_SPEC,
    document: { securityContext: { runAsUser: 1 } },
    patch: { securityContext: { $patch: 'merge', fsGroup: 2 } },
    expected: { securityContext: { runAsUser: 1, fsGroup: 2 } },
  },
  {
    does: '$patch: replace of the whole document',
    type: POD_SPEC,
    document: { hostname: 'a' },
    patch: { $patch: 'replace', nodeName: 'n' },
    expected: { nodeName: 'n' },
  },
  {
    does: '$patch: delete takes an element out',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }] },
    patch: { containers: [{ name: 'a', $patch: 'delete' }] },
    expected: { containers: [{ name: 'b' }] },
  },
  {
    does: '$patch: delete of an element that is not there changes nothing',
    type: POD_SPEC,
    document: { containers: [{ name: 'b' }] },
    patch: { containers: [{ name: 'a', $patch: 'delete' }] },
    expected: { containers: [{ name: 'b' }] },
  },
  {
    does: '$patch: delete beside merges of the same list',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }] },
    patch: { containers: [{ name: 'b', image: 'x' }, { name: 'a', $patch: 'delete' }, { name: 'c' }] },
    expected: { containers: [{ name: 'b', image: 'x' }, { name: 'c' }] },
  },
  {
    does: '$patch: delete into nothing leaves no directive behind',
    type: POD_SPEC,
    document: {},
    patch: { securityContext: { $patch: 'delete' }, containers: [{ name: 'a', $patch: 'delete' }] },
    expected: { securityContext: {}, containers: [] },
  },
  {
    does: '$patch: replace as an element replaces the list',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }] },
    patch: { containers: [{ name: 'c' }, { $patch: 'replace' }] },
    expected: { containers: [{ name: 'c' }] },
  },
  {
    does: '$patch: replace alone empties the list',
    type: POD_SPEC,
    document: { volumes: [{ name: 'a' }] },
    patch: { volumes: [{ $patch: 'replace' }] },
    expected: { volumes: [] },
  },
  {
    does: '$setElementOrder orders what is there',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
    patch: { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] },
    expected: { containers: [{ name: 'c' }, { name: 'a' }, { name: 'b' }] },
  },
  {
    does: '$setElementOrder orders what is merged',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }] },
    patch: {
      '$setElementOrder/containers': [{ name: 'a' }, { name: 'c' }, { name: 'b' }],
      containers: [{ name: 'c' }],
    },
    expected: { containers: [{ name: 'a' }, { name: 'c' }, { name: 'b' }] },
  },
  {
    does: '$setElementOrder leaves elements it does not name where they were',
    type: POD_SPEC,
    document: { containers: [{ name: 'x' }, { name: 'a' }, { name: 'y' }, { name: 'b' }] },
    patch: { '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }] },
    expected: { containers: [{ name: 'x' }, { name: 'a' }, { name: 'y' }, { name: 'b' }] },
  },
  {
    does: '$setElementOrder of scalars',
    type: META,
    document: { finalizers: ['a', 'b', 'c'] },
    patch: { '$setElementOrder/finalizers': ['b', 'c', 'a'] },
    expected: { finalizers: ['b', 'c', 'a'] },
  },
  {
    does: '$setElementOrder of a list that is nowhere is nothing',
    type: POD_SPEC,
    document: { hostname: 'a' },
    patch: { '$setElementOrder/containers': [{ name: 'a' }] },
    expected: { hostname: 'a' },
  },
  {
    does: '$setElementOrder may name elements that are nowhere',
    type: POD_SPEC,
    document: { containers: [{ name: 'b' }] },
    patch: {
      '$setElementOrder/containers': [{ name: 'z' }, { name: 'a' }, { name: 'b' }],
      containers: [{ name: 'a' }],
    },
    expected: { containers: [{ name: 'a' }, { name: 'b' }] },
  },
  {
    does: '$setElementOrder with the removal of an element',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
    patch: {
      '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }],
      containers: [{ name: 'a', $patch: 'delete' }],
    },
    expected: { containers: [{ name: 'c' }, { name: 'b' }] },
  },
  {
    does: '$deleteFromPrimitiveList takes scalars out',
    type: META,
    document: { finalizers: ['a', 'b', 'a', 'c'] },
    patch: { '$deleteFromPrimitiveList/finalizers': ['a', 'z'] },
    expected: { finalizers: ['b', 'c'] },
  },
  {
    does: '$deleteFromPrimitiveList with additions and an order',
    type: META,
    document: { finalizers: ['a', 'b'] },
    patch: {
      finalizers: ['c'],
      '$deleteFromPrimitiveList/finalizers': ['a'],
      '$setElementOrder/finalizers': ['c', 'b'],
    },
    expected: { finalizers: ['c', 'b'] },
  },
  {
    does: '$deleteFromPrimitiveList of a list that is nowhere is nothing',
    type: META,
    document: {},
    patch: { '$deleteFromPrimitiveList/finalizers': ['a'] },
    expected: {},
  },
  {
    does: '$deleteFromPrimitiveList works on lists that are replaced otherwise',
    type: CONTAINER,
    document: { args: ['a', 'b'] },
    patch: { '$deleteFromPrimitiveList/args': ['a'] },
    expected: { args: ['b'] },
  },
  {
    does: '$retainKeys clears what it does not name',
    type: 'apps/v1.DeploymentSpec',
    document: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
    patch: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    expected: { strategy: { type: 'Recreate' } },
  },
  {
    does: '$retainKeys in an element',
    type: POD_SPEC,
    document: { volumes: [{ name: 'v', emptyDir: {} }] },
    patch: { volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] },
    expected: { volumes: [{ name: 'v', hostPath: { path: '/x' } }] },
  },
  {
    does: '$retainKeys with a null for what it clears',
    type: 'apps/v1.DeploymentSpec',
    document: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
    patch: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } },
    expected: { strategy: { type: 'Recreate' } },
  },
];

const REFUSALS: readonly Case[] = [
  { does: 'a list', type: POD_SPEC, document: {}, patch: [], expected: 400 },
  { does: 'null', type: POD_SPEC, document: {}, patch: null, expected: 400 },
  { does: 'an unknown directive', type: POD_SPEC, document: {}, patch: { $patch: 'move' }, expected: 422 },
  { does: 'a directive that is an object', type: POD_SPEC, document: {}, patch: { $patch: {} }, expected: 422 },
  {
    does: 'an unknown directive in an element',
    type: POD_SPEC,
    document: {},
    patch: { containers: [{ name: 'a', $patch: 'x' }] },
    expected: 422,
  },
  {
    does: 'an element without the merge key',
    type: POD_SPEC,
    document: {},
    patch: { containers: [{ image: 'x' }] },
    expected: 422,
  },
  {
    does: 'the removal of an element without the merge key',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }] },
    patch: { containers: [{ $patch: 'delete' }] },
    expected: 422,
  },
  {
    does: 'a merge key that is an object',
    type: POD_SPEC,
    document: {},
    patch: { containers: [{ name: {} }] },
    expected: 422,
  },
  {
    does: 'an element that is no object',
    type: POD_SPEC,
    document: {},
    patch: { containers: ['a'] },
    expected: 422,
  },
  {
    does: 'an object in a list of scalars',
    type: META,
    document: {},
    patch: { finalizers: [{}] },
    expected: 422,
  },
  {
    does: 'a list in a list of scalars',
    type: META,
    document: { finalizers: ['a'] },
    patch: { finalizers: [['b']] },
    expected: 422,
  },
  {
    does: 'an order that is no list',
    type: POD_SPEC,
    document: {},
    patch: { '$setElementOrder/containers': { name: 'a' } },
    expected: 400,
  },
  {
    does: 'an order without the merge key',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }] },
    patch: { '$setElementOrder/containers': [{ image: 'x' }] },
    expected: 422,
  },
  {
    does: 'an order other than that of the elements',
    type: POD_SPEC,
    document: {},
    patch: {
      '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
      containers: [{ name: 'b' }, { name: 'a' }],
    },
    expected: 400,
  },
  {
    does: 'an order that leaves an element out',
    type: POD_SPEC,
    document: {},
    patch: { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'b' }] },
    expected: 400,
  },
  {
    does: 'an order for what is no list',
    type: POD_SPEC,
    document: {},
    patch: { '$setElementOrder/containers': [{ name: 'a' }], containers: { name: 'a' } },
    expected: 400,
  },
  {
    does: 'a deletion that is no list',
    type: META,
    document: { finalizers: ['a'] },
    patch: { '$deleteFromPrimitiveList/finalizers': 'a' },
    expected: 400,
  },
  {
    does: 'a deletion of objects',
    type: META,
    document: { finalizers: ['a'] },
    patch: { '$deleteFromPrimitiveList/finalizers': [{ a: 1 }] },
    expected: 400,
  },
  {
    does: 'keys to retain that are no list',
    type: POD_SPEC,
    document: {},
    patch: { $retainKeys: 'a' },
    expected: 400,
  },
  {
    does: 'keys to retain that are no names',
    type: POD_SPEC,
    document: {},
    patch: { $retainKeys: [1] },
    expected: 400,
  },
  {
    does: 'setting what is not retained',
    type: POD_SPEC,
    document: {},
    patch: { $retainKeys: ['hostname'], nodeName: 'n' },
    expected: 400,
  },
  {
    does: 'the prototype key',
    type: POD_SPEC,
    document: {},
    patch: JSON.parse('{"securityContext":{"__proto__":{"x":1}}}'),
    expected: 400,
  },
  {
    does: 'the prototype key behind a directive',
    type: POD_SPEC,
    document: {},
    patch: { '$setElementOrder/__proto__': [] },
    expected: 400,
  },
  {
    does: 'too deep objects',
    type: undefined,
    document: {},
    patch: nested(5000, (value) => ({ a: value })),
    expected: 413,
  },
  {
    does: 'too deep lists',
    type: undefined,
    document: {},
    patch: { a: nested(5000, (value) => [value]) },
    expected: 413,
  },
];

for (const { does, type, document, patch, expected } of MERGES) {
  test(`a strategic merge patch ${does}`, (t) => {
    t.deepEqual(outcomeOf(document, patch, type), expected);
  });
}
for (const { does, type, document, patch, expected } of DIRECTIVES) {
  test(`a strategic merge patch: ${does}`, (t) => {
    t.deepEqual(outcomeOf(document, patch, type), expected);
  });
}
for (const { does, type, document, patch, expected } of REFUSALS) {
  test(`a strategic merge patch refuses ${does}`, (t) => {
    t.is(outcomeOf(document, patch, type), expected);
  });
}

test('a strategic merge patch that changes nothing answers the document itself', (t) => {
  const document = frozen({
    metadata: { finalizers: ['a', 'b'], labels: { x: 'y' } },
    spec: { containers: [{ name: 'a', args: ['1'] }], volumes: [{ name: 'v' }] },
  });
  const patches: JsonObject[] = [
    {},
    { metadata: { labels: { x: 'y', z: null } } },
    { metadata: { finalizers: [] }, spec: { containers: [] } },
    { spec: { '$setElementOrder/containers': [{ name: 'a' }], containers: [] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['z'] } },
  ];
  for (const patch of patches) {
    t.is(applyStrategicMergePatch(document, frozen(patch), schema.type('core/v1.Pod')), document);
  }
});

test('a strategic merge patch of long lists takes time in proportion to them', (t) => {
  const count = 30_000;
  const ports = Array.from({ length: count }, (_, index) => ({ containerPort: 1, protocol: `P${index % 3}` }));
  const patch = { ports: ports.map((port, index) => ({ ...port, protocol: `Q${index}` })) };
  const merged = applyStrategicMergePatch({ ports }, patch, schema.type(CONTAINER));
  t.is((merged.ports as unknown[]).length, count);
});

function outcomeOf(document: JsonObject, patch: unknown, type: string | undefined): JsonObject | number {
  try {
    return applyStrategicMergePatch(
      frozen(document),
      frozen(patch),
      type === undefined ? undefined : schema.type(type),
    );
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.status.code ?? 0;
  }
}

function nested(levels: number, wrap: (value: unknown) => unknown): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}
