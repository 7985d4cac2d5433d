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

test('a pair, or a bundle of authorities, that is of no use keeps none of the others from being replaced', async (t) => {
  const files: Record<string, string> = {
    '/cert': PAIR.certPem,
    '/key': PAIR.keyPem,
    '/sni.cert': PAIR.certPem,
    '/sni.key': PAIR.keyPem,
    '/clients': PAIR.certPem,
    '/proxies': PAIR.certPem,
  };
  const ticks: (() => void)[] = [];
  const refused: string[] = [];
  const context = {
    clock: { nowMs: Date.now },
    disk: {
      readFile: async (path: string) => {
        const text = files[path];
        if (text === undefined) throw Object.assign(new Error(), { code: 'ENOENT' });
        return Buffer.from(text);
      },
    },
    log: { warn: ({ err }: { err: Error }) => void refused.push(err.message), info: () => {} },
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
  const named = [{ certFile: '/sni.cert', keyFile: '/sni.key', patterns: ['a.test'] }];
  const first = { ...PAIR, namedPairs: [{ ...PAIR, patterns: ['a.test'] }], clientCaPem: PAIR.certPem + PAIR.certPem };
  const serving = new ServingTls(
    context,
    { certFile: '/cert', keyFile: '/key', named, clientCa: ['/clients', '/proxies'] },
    first,
  );
  const opened = await serving.read();
  let shown: TlsMaterial = opened;
  const listener: Partial<Listener> = {
    async replaceTls(tls) {
      shown = tls;
    },
  };
  await serving.follow(listener as Listener, opened);
  delete files['/sni.key'];
  files['/proxies'] = 'half of a cert';
  Object.assign(files, { '/cert': OTHER.certPem, '/key': OTHER.keyPem, '/clients': OTHER.certPem });
  await look();
  await look();
  t.is(shown.certPem, OTHER.certPem);
  t.is(shown.keyPem, OTHER.keyPem);
  t.is(shown.namedPairs?.[0]?.keyPem, PAIR.keyPem);
  t.is(shown.clientCaPem, OTHER.certPem + PAIR.certPem);
  t.deepEqual(refused.sort(), ['/proxies holds no certificates', '/sni.key cannot be read (ENOENT)']);
  Object.assign(files, { '/sni.cert': OTHER.certPem, '/sni.key': OTHER.keyPem, '/proxies': OTHER.certPem });
  await look();
  t.is(shown.namedPairs?.[0]?.certPem, OTHER.certPem);
  t.deepEqual(shown.namedPairs?.[0]?.patterns, ['a.test']);
  t.is(shown.clientCaPem, OTHER.certPem + OTHER.certPem);
});
