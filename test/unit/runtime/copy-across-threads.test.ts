import test from 'ava';
import { copyAcrossThreads } from '../../../runtime/simulation/copy-across-threads.ts';

class Made {
  readonly own = 1;
}

const PLAIN: readonly unknown[] = [
  undefined,
  null,
  true,
  1.5,
  10n,
  'text',
  [],
  [1, [undefined, null], 'x'],
  { a: 1, b: { c: [] }, d: undefined },
  JSON.parse('{"__proto__":{"x":1},"constructor":2}'),
  new Map([['a', { b: 1 }]]),
  new Set([1, 'x']),
  new Date(5),
  new Made(),
  new Uint8Array([1, 2, 3]),
  new Uint32Array([1, 2, 3]),
  Buffer.from('pooled'),
];

for (const [index, value] of PLAIN.entries()) {
  test(`value ${index} arrives as the structured clone of it would`, (t) => {
    const copy = copyAcrossThreads(value);
    t.deepEqual(copy, structuredClone(value));
    if (typeof value === 'object' && value !== null) t.not(copy, value);
  });
}

test('of a view of a larger memory only what it shows is copied', (t) => {
  const copy = copyAcrossThreads({ payload: new Uint8Array(1000).subarray(10, 20) }) as { payload: Uint8Array };
  t.is(copy.payload.buffer.byteLength, 10);
});

test('shared memory stays shared', (t) => {
  const memory = new SharedArrayBuffer(8);
  const copy = copyAcrossThreads({ memory, view: new Uint8Array(memory, 2, 3), words: new Int32Array(memory) }) as {
    memory: SharedArrayBuffer;
    view: Uint8Array;
    words: Int32Array;
  };
  t.is(copy.memory, memory);
  t.is(copy.view.buffer, memory);
  t.deepEqual([copy.view.byteOffset, copy.view.byteLength], [2, 3]);
  copy.words[0] = 0x01020304;
  t.is(new Uint8Array(memory)[2], 2);
});

test('what cannot cross threads is refused', (t) => {
  for (const value of [() => {}, { a: [Symbol('x')] }, { f() {} }]) {
    t.throws(() => copyAcrossThreads(value), { name: 'DataCloneError', any: true });
  }
});
