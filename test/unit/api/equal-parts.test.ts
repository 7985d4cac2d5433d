// Goal: what an update leaves as it is becomes what is stored, and the update says what it said.
// Method: pairs of objects, made alike and then changed in one place, against copies of them.
import test from 'ava';
import fc from 'fast-check';
import { takeEqualParts } from '../../../api/json/equal-parts.ts';
import { freezeJson } from '../../../api/json/freeze-json.ts';

type Members = Record<string, unknown>;

const copyOf = (value: unknown): Members => JSON.parse(JSON.stringify(value)) as Members;

test('parts that are written alike are the stored ones afterwards, at the top and one level below', (t) => {
  const stored = {
    metadata: { labels: { a: 'b' }, name: 'x' },
    spec: { list: [{ a: 1 }], other: {} },
    status: { a: [1] },
  };
  const next = copyOf(stored) as typeof stored;
  next.metadata.name = 'y';
  next.spec.list = [{ a: 2 }];
  takeEqualParts(next, stored);
  t.is(next.status, stored.status);
  t.is(next.metadata.labels, stored.metadata.labels);
  t.is(next.spec.other, stored.spec.other);
  t.not(next.spec, stored.spec);
  t.deepEqual(next.spec.list, [{ a: 2 }]);
});

test('what differs in the order of its members alone stays as it is', (t) => {
  const stored = { data: { a: '1', b: '2' } };
  const next = { data: { b: '2', a: '1' } };
  takeEqualParts(next, stored);
  t.is(JSON.stringify(next), '{"data":{"b":"2","a":"1"}}');
});

test('names that every object has are no members, and values deeper than any object are not compared', (t) => {
  const next = copyOf(JSON.parse('{"constructor":{"a":1},"toString":[]}'));
  takeEqualParts(next, {});
  t.deepEqual(next, copyOf(JSON.parse('{"constructor":{"a":1},"toString":[]}')));
  const deep = (): Members => ({ a: JSON.parse('['.repeat(5000) + ']'.repeat(5000)) });
  const [one, other] = [deep(), deep()];
  takeEqualParts(one, other);
  t.not(one.a, other.a);
});

test('whatever two objects say, taking equal parts changes neither what is said nor the stored one', (t) => {
  const members = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 });
  fc.assert(
    fc.property(members, members, members, (stored, changes, more) => {
      const next = copyOf({ ...stored, ...changes, more: { ...stored, ...more } });
      const said = JSON.stringify(next);
      const kept = copyOf({ ...stored, more: { ...stored } });
      freezeJson(kept);
      takeEqualParts(next, kept);
      t.is(JSON.stringify(next), said);
    }),
  );
});
