// What owns what, asked for by kind.
import test from 'ava';
import { type OwnerReference, OwnershipGraph, UNOWNED } from '../../../actors/controllers/garbage/ownership-graph.ts';
import type { PersistedType } from '../../../actors/controllers/options.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { FollowedRecords } from '../../../storage/records/followed-records.ts';

const TYPE = { group: '', kind: 'ConfigMap', storageKey: 'core/configmaps' } as PersistedType;

const KINDS = ['Widget', 'widget', 'Gadget'];
const GROUPS = ['a.example.com', 'b.example.com'];

test('of what a kind owns all is found, and nothing else is looked at', (t) => {
  const random = new SeededRandom(3);
  const graph = new OwnershipGraph(new FollowedRecords(), () => TYPE);
  const owners = new Map<string, readonly OwnerReference[]>();
  const reference = (): OwnerReference => {
    const [kind, group] = [KINDS[random.below(3)]!, GROUPS[random.below(2)]!];
    const owner = random.below(4);
    return { apiVersion: `${group}/v${random.below(3)}`, kind, name: `o${owner}`, uid: `${kind}-${group}-${owner}` };
  };
  for (let step = 0; step < 400; step++) {
    const uid = `dependent-${random.below(30)}`;
    const known = graph.get(uid);
    const references = Array.from({ length: random.below(3) }, reference);
    if (known !== undefined && random.below(4) === 0) {
      graph.update(known, UNOWNED);
      graph.removeElsewhere(uid);
      owners.delete(uid);
    } else {
      const node = known ?? graph.addElsewhere({ uid, type: TYPE, namespace: 'n', name: uid });
      graph.update(node, { ...UNOWNED, revision: step + 1, references });
      owners.set(uid, references);
    }
    for (const group of GROUPS)
      for (const kind of ['Widget', 'Gadget']) {
        const found = new Set([...graph.dependentsOfKind({ group, kind })].map((node) => node.uid));
        const expected = [...owners]
          .filter(([, all]) =>
            all.some((one) => one.apiVersion.startsWith(`${group}/`) && one.kind.toLowerCase() === kind.toLowerCase()),
          )
          .map(([owned]) => owned);
        t.deepEqual([...found].sort(), expected.sort());
      }
  }
});

test('one owner may be taken for any number of kinds', (t) => {
  const graph = new OwnershipGraph(new FollowedRecords(), () => TYPE);
  const references = Array.from({ length: 50_000 }, (_, index) => ({
    ...{ apiVersion: 'a.example.com/v1', kind: `Kind${index}`, name: 'o', uid: 'one' },
  }));
  const node = graph.addElsewhere({ uid: 'dependent', type: TYPE, namespace: 'n', name: 'd' });
  graph.update(node, { ...UNOWNED, revision: 1, references });
  const last = { group: 'a.example.com', kind: 'Kind49999' };
  t.deepEqual([...graph.dependentsOfKind(last)], [node]);
  graph.update(node, UNOWNED);
  t.deepEqual([...graph.dependentsOfKind(last)], []);
});
