import test from 'ava';
import { partCosts, partLines } from '../../../bench/profile/parts.ts';

const LOAD = { operationsPerSecond: 1000, profiledSeconds: 2, microseconds: 10 };

test('a sample counts for the innermost code of the server, with what that called', (t) => {
  const stacks = [
    {
      stack: ['hash node:internal/crypto/hash:1', 'token actors/auth/a.ts:3', 'serve transport/uws/b.ts:4'],
      time: 4e6,
    },
    { stack: ['serve transport/uws/b.ts:9'], time: 6e6 },
    { stack: ['(garbage collector) :0', '(root) :0'], time: 2e6 },
    { stack: ['dispatch :0', 'post node:inspector:112', 'serve transport/uws/b.ts:9'], time: 99e6 },
  ];
  t.deepEqual(partCosts([{ thread: 'front', stacks }], LOAD), [
    { thread: 'front', part: 'connections: TLS, HTTP, sockets', microseconds: 3 },
    { thread: 'front', part: 'who asks, and whether they may', microseconds: 2 },
    { thread: 'front', part: 'garbage collection', microseconds: 1 },
    { thread: 'all', part: 'outside JavaScript: kernel, reads, native threads', microseconds: 4 },
  ]);
});

test('a function of Node that is called like something of every object is no part of its own', (t) => {
  const stacks = [{ stack: ['toString :0', 'constructor :0', 'f actors/store/x.ts:1'], time: 2e6 }];
  t.deepEqual(
    partCosts([{ thread: 'store', stacks }], LOAD).map(({ part }) => part),
    ['store', 'outside JavaScript: kernel, reads, native threads'],
  );
});

test('what no JavaScript took is not told where the CPU of the process is unknown', (t) => {
  const stacks = [{ stack: ['f actors/store/x.ts:1'], time: 2e6 }];
  t.deepEqual(partCosts([{ thread: 'store', stacks }], { ...LOAD, microseconds: undefined }), [
    { thread: 'store', part: 'store', microseconds: 1 },
  ]);
});

test('small parts are one line of the table, and all of them add up', (t) => {
  const cost = (part: string, microseconds: number) => ({ thread: 'front', part, microseconds });
  const lines = partLines([cost('a', 150), cost('b', 49), cost('c', 0.6), cost('d', 0.4)]).split('\n');
  t.deepEqual(
    lines.map((line) => line.trim().replaceAll(/ +/g, ' ')),
    ['front a 150.0 µs 75 %', 'front b 49.0 µs 25 %', 'all smaller parts 1.0 µs 1 %', 'together 200.0 µs 100 %'],
  );
});
