// What bodies are taken to come to on the heap.
import test from 'ava';
import { heapBytesOfBody } from '../../../transport/heap-of-body.ts';

const COUNT = 1_000;

/** What as many empty objects take at least, decoded and completed. */
const LEAST = COUNT * 250;

for (const [what, text] of [
  ['a list of empty objects', `[${Array<string>(COUNT).fill('{}').join(',')}]`],
  [
    'lists within lists',
    `[${Array<string>(COUNT / 2)
      .fill('[[]]')
      .join(',')}]`,
  ],
  ['a list of a YAML document', Array<string>(COUNT).fill('- {}').join('\n')],
] as const) {
  test(`${what} counts on the heap by what is in it`, (t) => {
    const bytes = heapBytesOfBody(Buffer.from(text), 'application/json');
    t.true(bytes >= LEAST && bytes < 3 * LEAST, String(bytes));
  });
}

test('a Protobuf message counts as if it were all of empty ones', (t) => {
  const body = Buffer.alloc(2 * COUNT, 'x');
  t.true(heapBytesOfBody(body, 'application/vnd.kubernetes.protobuf') >= COUNT * 256);
});

test('a long text counts a few times its length', (t) => {
  const body = Buffer.from(JSON.stringify({ data: { text: 'x'.repeat(COUNT * 1_000) } }));
  const bytes = heapBytesOfBody(body, 'application/json');
  t.true(bytes >= body.length && bytes < 5 * body.length, String(bytes));
});
