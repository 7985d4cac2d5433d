// Field sets that are found by their bytes.
import test from 'ava';
import { knownFields } from '../../../../api/codec/known-fields.ts';

/** Long enough that most of its bytes decide nothing of where it is looked for. */
const NAME = 'n'.repeat(320);

test('a field set is what its bytes say, though others are looked for at the same place, and stays that', (t) => {
  const bytes = Buffer.from(`before{"f:${NAME}":{}}behind`);
  const [start, end] = ['before'.length, bytes.length - 'behind'.length];
  const read = (): string[] => Object.keys(knownFields(bytes, start, end));
  t.deepEqual(read(), [`f:${NAME}`]);
  const first = knownFields(bytes, start, end);
  t.is(knownFields(bytes, start, end), first);
  for (let at = 0; at < NAME.length; at++) {
    const position = start + '{"f:'.length + at;
    // In the very memory in which the one before lay.
    bytes.write('x', position);
    t.deepEqual(read(), [`f:${NAME.slice(0, at)}x${NAME.slice(at + 1)}`]);
    bytes.write('n', position);
  }
  t.deepEqual(Object.keys(first), [`f:${NAME}`]);
});
