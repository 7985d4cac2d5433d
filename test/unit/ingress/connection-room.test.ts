// How many connections are left for clients, as the system's limits file says.
import test from 'ava';
import { connectionRoom } from '../../../actors/ingress/connection-room.ts';

const limits = (files: string) => ({
  readFile: async () =>
    Buffer.from(`Limit   Soft Limit  Hard Limit  Units\nMax open files            ${files}     20000    files \n`),
});

for (const [files, listeners, room] of [
  ['1024', 1, 720],
  ['20000', 1, 15_840],
  ['20000', 4, 3960],
  ['1048576', 1, 1_044_416],
  ['10', 1, 1],
] as const) {
  test(`with ${files} files, each of ${listeners} listeners takes ${room} connections`, async (t) => {
    t.is(await connectionRoom(limits(files), listeners), room);
  });
}

test('where the limit is not known there is none', async (t) => {
  const nowhere = { readFile: () => Promise.reject(new Error('ENOENT')) };
  t.is(await connectionRoom(nowhere, 1), undefined);
  t.is(await connectionRoom({ readFile: async () => Buffer.from('') }, 1), undefined);
  t.true((await connectionRoom(limits('unlimited'), 1))! > 1e18);
});
