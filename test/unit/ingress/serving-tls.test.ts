// The certificates of a listener, as the files have them: also where these change while it is being opened.
import test from 'ava';
import { ServingTls } from '../../../actors/ingress/serving-tls.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type { Listener, TlsMaterial } from '../../../transport/http.ts';
import { OTHER, PAIR } from '../transport/outgoing/made-pairs.ts';

const FILES = { certFile: '/cert', keyFile: '/key', named: [], clientCa: [] };

test('a listener is told of certificates that have changed since it was opened with others, and of each change then', async (t) => {
  let files = PAIR;
  let tick = (): void => {};
  const look = async (): Promise<void> => {
    tick();
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  let nowMs = Date.now();
  const warnings: unknown[] = [];
  const context = {
    clock: { nowMs: () => nowMs },
    disk: { readFile: async (path: string) => Buffer.from(path === '/cert' ? files.certPem : files.keyPem) },
    log: { warn: (text: unknown) => void warnings.push(text), info: () => {} },
    timers: {
      every: (_intervalMs: number, callback: () => void) => {
        tick = callback;
        return { cancel: () => {} };
      },
    },
  } as unknown as ActorContext;
  const serving = new ServingTls(context, FILES, PAIR);
  const opened = await serving.read();
  files = OTHER;
  await look();
  const told: string[] = [];
  const listener = { replaceTls: async ({ certPem }: TlsMaterial) => void told.push(certPem) } as Partial<Listener>;
  await serving.follow(listener as Listener, opened);
  t.deepEqual(told, [OTHER.certPem]);
  files = PAIR;
  await look();
  t.deepEqual(told, [OTHER.certPem, PAIR.certPem]);
  t.deepEqual(warnings, []);
  const later: string[] = [];
  const another = { replaceTls: async ({ certPem }: TlsMaterial) => void later.push(certPem) } as Partial<Listener>;
  await serving.follow(another as Listener, serving.material);
  t.deepEqual(later, [], 'who was opened with what is served is told nothing');
  nowMs += 100 * 365 * 24 * 3600 * 1000;
  files = OTHER;
  await look();
  t.deepEqual(later, [OTHER.certPem], 'as the file has it');
  t.regex(
    String(warnings),
    /^clients refuse the certificate that is served: it has ended \(.*\)$/,
    'and its end is told of',
  );
});
