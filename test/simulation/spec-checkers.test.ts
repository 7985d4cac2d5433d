// The checkers of generations and of what services are given, on histories made by hand.
import test from 'ava';
import { checkGenerations } from './check-generations.ts';
import { checkServices } from './check-services.ts';
import type { Version } from './committed.ts';
import { committedOf, type Made } from './made-by-hand.ts';

const OBJECTS = ['apps/replicasets/a/o', 'apps/deployments/a/o'] as const;
const [REPLICA_SET, DEPLOYMENT] = OBJECTS;

function wanted(replicas: number, generation: number, more: Partial<Version> = {}, tag = 't'): Partial<Version> {
  return { text: JSON.stringify({ metadata: { annotations: { tag } }, spec: { replicas } }), generation, ...more };
}

const GENERATIONS: readonly (readonly [name: string, changes: readonly Made[], problem?: string])[] = [
  ['moves with the spec', [1, 2].map((replicas): Made => [REPLICA_SET, wanted(replicas, replicas)])],
  [
    'moves with annotations where they count',
    ['x', 'y'].map((tag, index): Made => [DEPLOYMENT, wanted(1, index + 1, {}, tag)]),
  ],
  [
    'moves as the deletion begins, and not as it goes on',
    [
      [REPLICA_SET, wanted(1, 1)],
      [REPLICA_SET, wanted(1, 2, { dying: true })],
      [REPLICA_SET, wanted(1, 2, { dying: true })],
      [REPLICA_SET, undefined],
      [REPLICA_SET, wanted(1, 1)],
    ],
  ],
  ['begins with another', [[REPLICA_SET, wanted(1, 7)]], `${REPLICA_SET} began with generation 7 at 1`],
  [
    'stands still where the spec moves',
    [1, 2].map((replicas): Made => [REPLICA_SET, wanted(replicas, 1)]),
    `${REPLICA_SET} came to generation 1 where 2 was due at 2`,
  ],
  [
    'moves with what does not count',
    ['x', 'y'].map((tag, index): Made => [REPLICA_SET, wanted(1, index + 1, {}, tag)]),
    `${REPLICA_SET} came to generation 2 where 1 was due at 2`,
  ],
];

for (const [name, changes, problem] of GENERATIONS) {
  test(`of generations: one ${name}`, (t) => {
    t.deepEqual(checkGenerations(committedOf(...changes)), problem === undefined ? [] : [problem]);
  });
}

const [ONE, OTHER] = ['core/services/a/one', 'core/services/a/other'];
const ADDRESS = 'internal/clusteraddresses//10.0.0.3';
const PORT = 'internal/nodeports//30001';

const service = (spec: object): Partial<Version> => ({ text: JSON.stringify({ spec }) });
const ADDRESSED = service({ clusterIPs: ['10.0.0.3'] });

/** Of one revision each, or of one together. */
const SERVICES: readonly (readonly [
  name: string,
  revisions: readonly (readonly Made[])[],
  problems: readonly string[],
])[] = [
  [
    'what is noted as the service comes and goes is right',
    [
      [
        [ADDRESS, 'n'],
        [ONE, ADDRESSED],
      ],
      [
        [ONE, undefined],
        [ADDRESS, undefined],
      ],
      [
        [OTHER, ADDRESSED],
        [ADDRESS, 'n'],
      ],
    ],
    [],
  ],
  [
    'a port may be two of the same service, of the node and of its health, and headless ones have no address',
    [
      [
        [PORT, 'n'],
        [ONE, service({ clusterIPs: ['None'], ports: [{ nodePort: 30_001 }, { nodePort: 30_001 }] })],
      ],
      [[ONE, service({ ports: [{}], healthCheckNodePort: 30_001 })]],
    ],
    [],
  ],
  [
    'two services have one address',
    [
      [
        [ADDRESS, 'n'],
        [ONE, ADDRESSED],
      ],
      [[OTHER, ADDRESSED]],
    ],
    [`10.0.0.3 is given to ${ONE} and ${OTHER} at 2`],
  ],
  [
    'two services have one port, one of them for its health',
    [
      [
        [PORT, 'n'],
        [ONE, service({ ports: [{ nodePort: 30_001 }] })],
      ],
      [[OTHER, service({ healthCheckNodePort: 30_001 })]],
    ],
    [`30001 is given to ${ONE} and ${OTHER} at 2`],
  ],
  [
    'an address outlives its service',
    [
      [
        [ADDRESS, 'n'],
        [ONE, ADDRESSED],
      ],
      [[ONE, undefined]],
    ],
    ['10.0.0.3 is held for no service at 2'],
  ],
  ['an address is not noted', [[[ONE, ADDRESSED]]], [`10.0.0.3 is held for nobody at 1, ${ONE} has it`]],
];

for (const [name, revisions, problems] of SERVICES) {
  test(`of what services are given: ${name}`, (t) => {
    const { changes } = committedOf(...revisions.flat());
    const revisionOf = revisions.flatMap((together, index) => together.map(() => index + 1));
    const renumbered = changes.map((change, index) => ({ ...change, revision: revisionOf[index]! }));
    t.deepEqual(checkServices({ changes: renumbered }, 'own'), problems);
  });
}

test('of what services are given: in the layout of the original nothing is noted apart', (t) => {
  t.deepEqual(checkServices(committedOf([ONE, ADDRESSED]), 'kubernetes'), []);
});
