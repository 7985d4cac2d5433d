// The sums of what is live: the same whatever the order of changes, and different when anything is.
import { crc32 } from 'node:zlib';
import test from 'ava';
import { LiveDigests } from '../../../storage/live-digest.ts';

type Change = readonly [key: string, before: number, next: number];

function digestsOf(changes: readonly Change[]): LiveDigests {
  const digests = new LiveDigests();
  for (const [key, before, next] of changes) digests.change(key, crc32(key), before, next);
  return digests;
}

test('what was made in many changes sums up like what was there at once', (t) => {
  const grown = digestsOf([
    ['core/pods/a/x', 0, 1],
    ['core/pods/a/y', 0, 2],
    ['core/nodes//n', 0, 3],
    ['core/pods/a/x', 1, 4],
    ['core/pods/a/y', 2, 0],
    ['core/nodes//n', 3, 4294967299],
  ]);
  const loaded = digestsOf([
    ['core/nodes//n', 0, 4294967299],
    ['core/pods/a/x', 0, 4],
  ]);
  t.is(grown.total, loaded.total);
  const [pods, nodes] = grown.all();
  const [loadedNodes, loadedPods] = loaded.all();
  t.deepEqual({ ...pods, changes: 1 }, { ...loadedPods! });
  t.deepEqual({ ...nodes, changes: 1 }, { ...loadedNodes! });
  t.is(pods?.changes, 4);
  t.is(pods?.objects, 1);
});

test('another revision, another key and exchanged revisions sum up to something else', (t) => {
  const sums = [
    [['core/pods/a/x', 0, 1]],
    [['core/pods/a/x', 0, 2]],
    [['core/pods/a/y', 0, 1]],
    [['core/pods/a/x', 0, 1 + 2 ** 32]],
    [
      ['core/pods/a/x', 0, 1],
      ['core/pods/a/y', 0, 2],
    ],
    [
      ['core/pods/a/x', 0, 2],
      ['core/pods/a/y', 0, 1],
    ],
  ].map((changes) => digestsOf(changes as unknown as Change[]).total);
  t.is(new Set(sums).size, sums.length);
});
