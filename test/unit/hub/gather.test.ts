import test from 'ava';
import { ResourceCache } from '../../../actors/hub/caches/resource-cache.ts';
import { gather } from '../../../actors/hub/lists/lists.ts';
import { compileSelection, inNamespace } from '../../../actors/hub/selection.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { Records, type SampleObject } from './records.ts';

const FIELDS = ['metadata.name', 'metadata.namespace'];
/** Each of them a prefix of the next, or next to it in the order of code units. */
const NAMESPACES = ['a', 'a-b', 'a.b', 'a0', 'ab', 'a-', 'b'];

function sample(namespace: string, name: string, labels: Record<string, string> = {}): SampleObject {
  return { namespace, name, labels, fields: [name, namespace] };
}

function world(objects: readonly SampleObject[]): { cache: ResourceCache; records: Records } {
  const cache = new ResourceCache('core/samples');
  const records = new Records();
  cache.load(objects.map((object, index) => records.write(object, index + 1)));
  return { cache, records };
}

interface Asked {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly after?: string;
}

function gatherKeys({ cache, records }: ReturnType<typeof world>, asked: Asked) {
  const { namespace = '', labelSelector = '', fieldSelector = '', limit = 0, after = '' } = asked;
  const selection = compileSelection({ storageKey: 'core/samples', namespace, labelSelector, fieldSelector }, FIELDS);
  const { places, continueAfter, remaining } = gather(cache.tree, selection, records.slabs, limit, after);
  const byOffset = new Map(cache.tree.toArray().map(([key, { offset }]) => [offset, key]));
  const keys: string[] = [];
  for (let i = 0; i < places.length; i += 2) keys.push(byOffset.get(places[i + 1]!)!);
  return { keys, continueAfter, remaining };
}

const OBJECTS = NAMESPACES.flatMap((namespace) => ['x', 'y', 'z'].map((name) => sample(namespace, name)));

for (const namespace of NAMESPACES) {
  test(`namespace ${namespace} holds its own objects and no other's`, (t) => {
    t.deepEqual(gatherKeys(world(OBJECTS), { namespace }), {
      keys: [`${namespace}/x`, `${namespace}/y`, `${namespace}/z`],
      continueAfter: '',
      remaining: 0,
    });
    for (const other of NAMESPACES) t.is(inNamespace(`${other}/x`, namespace), other === namespace);
  });
}

test('an unknown namespace and an empty type hold nothing', (t) => {
  const nothing = { keys: [], continueAfter: '', remaining: 0 };
  t.deepEqual(gatherKeys(world(OBJECTS), { namespace: 'c' }), nothing);
  t.deepEqual(gatherKeys(world([]), { limit: 5 }), nothing);
  t.deepEqual(gatherKeys(world([]), { namespace: 'a', limit: 5 }), nothing);
});

test('a limit as large as what there is needs no next chunk', (t) => {
  t.deepEqual(gatherKeys(world(OBJECTS), { namespace: 'a', limit: 3 }), {
    keys: ['a/x', 'a/y', 'a/z'],
    continueAfter: '',
    remaining: 0,
  });
  t.deepEqual(gatherKeys(world(OBJECTS), { namespace: 'a', limit: 2 }), {
    keys: ['a/x', 'a/y'],
    continueAfter: 'a/y',
    remaining: 1,
  });
});

test('a list goes on after a key that is gone', (t) => {
  t.deepEqual(gatherKeys(world(OBJECTS), { namespace: 'a', after: 'a/xx' }).keys, ['a/y', 'a/z']);
  t.deepEqual(gatherKeys(world(OBJECTS), { namespace: 'a', after: 'a/z' }).keys, []);
});

test('what remains is not counted where a selector would have to look', (t) => {
  const asked = { fieldSelector: 'metadata.name=x', limit: 2 };
  t.deepEqual(gatherKeys(world(OBJECTS), asked), {
    keys: ['a-/x', 'a-b/x'],
    continueAfter: 'a-b/x',
    remaining: undefined,
  });
});

test('chunks of any size put together are the whole, and each counts what follows', (t) => {
  const random = new SeededRandom(11);
  for (let round = 0; round < 60; round++) {
    const keys = new Set(
      Array.from(
        { length: random.below(60) },
        () => `${NAMESPACES[random.below(NAMESPACES.length)]}/${random.below(9)}`,
      ),
    );
    const objects = [...keys].map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      return sample(namespace, name, random.below(2) === 0 ? { tier: 'front' } : {});
    });
    const all = world(objects);
    const namespace = random.below(2) === 0 ? '' : NAMESPACES[random.below(NAMESPACES.length)]!;
    const labelSelector = ['', 'tier=front', '!tier'][random.below(3)]!;
    const expected = objects
      .filter((object) => namespace === '' || object.namespace === namespace)
      .filter(({ labels }) => labelSelector === '' || (labels?.tier === 'front') === (labelSelector === 'tier=front'))
      .map((object) => `${object.namespace}/${object.name}`)
      .sort();
    t.deepEqual(gatherKeys(all, { namespace, labelSelector }).keys, expected);
    const limit = 1 + random.below(7);
    const seen: string[] = [];
    for (let after = '', more = true; more; ) {
      const chunk = gatherKeys(all, { namespace, labelSelector, limit, after });
      seen.push(...chunk.keys);
      after = chunk.continueAfter;
      more = after !== '';
      t.true(chunk.keys.length <= limit);
      const left = expected.length - seen.length;
      t.is(chunk.remaining, more && labelSelector !== '' ? undefined : left);
      t.is(more, left > 0);
    }
    t.deepEqual(seen, expected);
  }
});
