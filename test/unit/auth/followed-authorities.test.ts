// The authorities of clients and of proxies, as their files have them.
import test from 'ava';
import { FollowedAuthorities } from '../../../actors/followed-authorities.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { OTHER, PAIR } from '../transport/outgoing/made-pairs.ts';

test('authorities of clients that are replaced are believed also while the file of those of proxies is of no use', async (t) => {
  const files = new Map([
    ['/clients', PAIR.certPem],
    ['/proxies', 'nothing'],
  ]);
  const ticks: (() => void)[] = [];
  const refused: string[] = [];
  const context = {
    disk: { readFile: async (path: string) => Buffer.from(files.get(path)!) },
    log: { warn: ({ err }: { err: Error }) => void refused.push(err.message) },
    timers: {
      every: (_intervalMs: number, callback: () => void) => {
        ticks.push(callback);
        return { cancel: () => {} };
      },
    },
  } as unknown as ActorContext;
  const look = async (): Promise<void> => {
    for (const tick of ticks) tick();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const read: unknown[] = [];
  const followed = new FollowedAuthorities(context, { client: ['/clients'], proxy: ['/proxies'] }, (bundles) => {
    read.push(bundles);
  });
  await followed.start();
  t.deepEqual(read, [{ client: PAIR.certPem }]);
  files.set('/clients', OTHER.certPem);
  await look();
  t.deepEqual(read.splice(1), [{ client: OTHER.certPem }]);
  t.deepEqual(refused, ['/proxies holds no certificates']);
  files.set('/proxies', PAIR.certPem);
  await look();
  t.deepEqual(read.splice(1), [{ proxy: PAIR.certPem }]);
  followed.stop();
});
