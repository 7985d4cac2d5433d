import test from 'ava';
import { ResourceCache } from '../../../actors/hub/caches/resource-cache.ts';
import { Gathering } from '../../../actors/hub/lists/lists.ts';
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
  const gathering = new Gathering({ tree: cache.tree, selection, slabs: records.slabs, limit, after });
  gathering.goOn(Number.POSITIVE_INFINITY);
  const { places, continueAfter, remaining } = gathering.gathered;
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

test('of a namespace and of a selector all is found, however many there are', (t) => {
  const names = Array.from({ length: 1000 }, (_, number) => `x${String(number).padStart(4, '0')}`);
  const many = world(
    ['a', 'b'].flatMap((namespace) => names.map((name) => sample(namespace, name, { of: namespace }))),
  );
  for (const asked of [{ namespace: 'a' }, { labelSelector: 'of=a' }]) {
    const { keys, continueAfter } = gatherKeys(many, asked);
    t.deepEqual(
      keys,
      names.map((name) => `a/${name}`),
    );
    t.is(continueAfter, '');
  }
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

test('what is gathered in many goes is the state of the first, whatever changes between them', (t) => {
  const random = new SeededRandom(23);
  for (let round = 0; round < 40; round++) {
    const objects = Array.from({ length: 400 }, (_, i) => sample(NAMESPACES[i % 7]!, `o${i}`, { tier: `t${i % 3}` }));
    const { cache, records } = world(objects);
    const labelSelector = ['', 'tier=t1'][round % 2]!;
    const query = {
      storageKey: 'core/samples',
      namespace: ['', 'a'][random.below(2)]!,
      labelSelector,
      fieldSelector: '',
    };
    const selection = compileSelection(query, FIELDS);
    const of = { tree: cache.tree, selection, slabs: records.slabs, limit: [0, 50][random.below(2)]!, after: '' };
    const whole = new Gathering(of);
    whole.goOn(Number.POSITIVE_INFINITY);
    const expected = whole.gathered;
    const gathering = new Gathering(of);
    let isAll = gathering.goOn(1);
    const tree = gathering.keepState();
    for (let revision = 1000; !isAll; revision++) {
      const object = objects[random.below(objects.length)]!;
      cache.apply(records.write({ ...object, labels: { tier: 't1' } }, revision), random.below(2) === 0);
      isAll = gathering.goOn(1 + random.below(9));
    }
    t.deepEqual(gathering.gathered, expected);
    t.is(tree.size, objects.length);
  }
});

test('of an object that is named, no others are looked at', (t) => {
  const names = [sample('a', 'x'), sample('a', 'y'), sample('a', 'z'), sample('b', 'y')];
  const goes = (objects: readonly SampleObject[], namespace: string, name: string) => {
    const { cache, records } = world(objects);
    const query = { storageKey: 'core/samples', namespace, labelSelector: '', fieldSelector: `metadata.name=${name}` };
    const selection = compileSelection(query, FIELDS);
    const gathering = new Gathering({ tree: cache.tree, selection, slabs: records.slabs, limit: 0, after: '' });
    let count = 1;
    while (!gathering.goOn(1)) count++;
    return [gathering.gathered.places.length / 2, count];
  };
  t.deepEqual(goes(names, 'a', 'y'), [1, 2]);
  t.deepEqual(goes(names, 'a', 'w'), [0, 1]);
  t.deepEqual(goes(names, '', 'y'), [2, 5], 'in any namespace: all of them');
  const ofCluster = ['x', 'y', 'z'].map((name) => sample('', name));
  t.deepEqual(goes(ofCluster, '', 'y'), [1, 2]);
});
