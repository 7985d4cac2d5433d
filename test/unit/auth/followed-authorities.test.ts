// The authorities of clients and of proxies, as their files have them.
import test, { type ExecutionContext } from 'ava';
import { FollowedAuthorities } from '../../../actors/followed-authorities.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { OTHER, PAIR } from '../transport/outgoing/made-pairs.ts';

/** Authorities as the files have them, and what of them was put into force and refused. `look` is the time between two looks. */
async function following(t: ExecutionContext, files: ReadonlyMap<string, string>) {
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
  t.teardown(() => followed.stop());
  await followed.start();
  return { read, refused, look };
}

test('authorities of clients that are replaced are believed also while the file of those of proxies is of no use', async (t) => {
  const files = new Map([
    ['/clients', PAIR.certPem],
    ['/proxies', 'nothing'],
  ]);
  const { read, refused, look } = await following(t, files);
  t.deepEqual(read, [{ client: PAIR.certPem }]);
  files.set('/clients', OTHER.certPem);
  await look();
  t.deepEqual(read.splice(1), [{ client: OTHER.certPem }]);
  t.deepEqual(refused, ['/proxies holds no certificates']);
  files.set('/proxies', PAIR.certPem);
  await look();
  t.deepEqual(read.splice(1), [{ proxy: PAIR.certPem }]);
});

test('authorities whose file is half written are believed as they were, those that it does not name yet among them', async (t) => {
  const both = PAIR.certPem + OTHER.certPem;
  const files = new Map([
    ['/clients', both],
    ['/proxies', OTHER.certPem],
  ]);
  const { read, refused, look } = await following(t, files);
  const whole = read.length;
  for (const cutBytes of [2, 40, OTHER.certPem.length - 15]) {
    files.set('/clients', both.slice(0, -cutBytes));
    await look();
  }
  await look();
  t.is(read.length, whole);
  t.deepEqual(refused, ['/clients ends within a certificate']);
  files.set('/clients', `${both}# as it was\n`);
  await look();
  t.is(read.length, whole + 1);
});
