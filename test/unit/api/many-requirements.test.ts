// Selectors with very many requirements: that they mean what each of these means, and that objects are not asked about each.
import test from 'ava';
import fc from 'fast-check';
import { compileFieldSelector } from '../../../api/selectors/field-selector.ts';
import { type LabelOperator, labelRequirement, meetsRequirement } from '../../../api/selectors/label-requirement.ts';
import { parseLabelSelector } from '../../../api/selectors/label-selector.ts';
import { meetsAll } from '../../../api/selectors/many-requirements.ts';

const MANY = 1000;

/** Labels, or values, that count how often one of them is read. */
function counted<T extends object>(target: T): { readonly values: T; readonly reads: () => number } {
  let reads = 0;
  const values = new Proxy(target, {
    get: (object, name) => {
      reads++;
      return Reflect.get(object, name);
    },
  });
  return { values, reads: () => reads };
}

test('labels meet many requirements where they meet each of them', (t) => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const value = fc.constantFrom('1', '2', '3', 'x', '');
  const listed = fc.record({
    key,
    operator: fc.constantFrom<LabelOperator>('In', 'NotIn'),
    values: fc.array(value, { minLength: 1, maxLength: 4 }),
  });
  const bare = fc.record({
    key,
    operator: fc.constantFrom<LabelOperator>('Exists', 'DoesNotExist'),
    values: fc.constant([]),
  });
  const bound = fc.record({
    key,
    operator: fc.constantFrom<LabelOperator>('Gt', 'Lt'),
    values: fc.tuple(fc.constantFrom('0', '1', '2', '3')),
  });
  const requirements = fc.array(fc.oneof(listed, listed, bare, bound), { maxLength: 8 });
  fc.assert(
    fc.property(requirements, fc.dictionary(key, value), fc.boolean(), (written, labels, isLong) => {
      const others = isLong
        ? Array.from({ length: 100 }, (_, at) => labelRequirement(`other-${at}`, 'NotIn', ['v']))
        : [];
      const all = [...written.map((one) => labelRequirement(one.key, one.operator, one.values)), ...others];
      t.is(
        meetsAll(all)(labels),
        all.every((one) => meetsRequirement(one, labels)),
      );
    }),
    { numRuns: 500 },
  );
});

for (const [title, text] of [
  ['values that a label must not have', (at: number) => `app!=v${at}`],
  ['sets that it must be in', (at: number) => `app in (web,v${at})`],
  ['keys that must not be there', (at: number) => `!key-${at}`],
  ['bounds', (at: number) => `size>${at}`],
] as const) {
  test(`an object is asked no more for thousands of ${title}`, (t) => {
    const selector = parseLabelSelector(Array.from({ length: MANY }, (_, at) => text(at)).join(','));
    const { values, reads } = counted({ app: 'web', size: '5000' });
    t.true(selector.matches(values));
    t.true(reads() <= 4, `${reads()} reads`);
  });
}

test('an object is asked no more for thousands of values that a field must not have', (t) => {
  const text = Array.from({ length: MANY }, (_, at) => `metadata.name!=n${at}`).join(',');
  const selector = compileFieldSelector(text, ['metadata.name', 'metadata.namespace']);
  const { values, reads } = counted(['other', 'default']);
  t.true(selector.matches(values));
  t.true(reads() <= 4, `${reads()} reads`);
  t.false(selector.matches(['n7', 'default']));
  const fixed = compileFieldSelector(`metadata.namespace=default,${text}`, ['metadata.name', 'metadata.namespace']);
  t.deepEqual([fixed.matches(['other', 'default']), fixed.matches(['other', 'kept'])], [true, false]);
});
