// TLS as the listeners speak it, seen by Node's client: which certificate is shown, what can be agreed on, and what changes
// for new connections when the material is replaced. What only Node's listener can do is tried there alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import test from 'ava';
import { isOrchError } from '../../runtime/errors.ts';
import { chooseCiphers } from '../../transport/cipher-suites.ts';
import type { Listener, RequestHandler, TlsMaterial } from '../../transport/http.ts';
import { openNodeListener } from '../../transport/node/listener.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { openUwsListener } from '../../transport/uws/listener.ts';
import { type ListenerName, testOn } from '../server/listeners.ts';
import { testAuthority } from '../server/test-authority.ts';
import { eventually, RawClient } from './listener-client.ts';
import { get, JSON_HEADERS, listenerOptions, type Open, Taken } from './listener-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-listener-tls-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const OPEN: readonly (readonly [name: ListenerName, open: Open])[] = [
  ['uws', openUwsListener],
  ['node', openNodeListener],
];

const serveOk: RequestHandler = (_, response) => response.respond(200, JSON_HEADERS, '{}');

async function pair(commonName: string): Promise<TlsMaterial> {
  const times = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 86_400_000) };
  return makeSelfSigned({ commonName, names: ['localhost'], ...times });
}

interface Seen {
  readonly commonName: string;
  readonly version: string | null;
  readonly suite: string;
}

/** What a client sees, after a request on the connection; undefined where it comes to none. */
async function seen(port: number, options: ConnectionOptions = {}, host = '127.0.0.1'): Promise<Seen | undefined> {
  const socket = connect({ host, port, rejectUnauthorized: false, ...options });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('end', () => reject(new Error('closed')));
      socket.once('secureConnect', () => {
        // With TLS 1.3 a server's refusal comes after what is the end of the handshake to a client.
        socket.write(get('/'));
        socket.once('data', () => resolve());
      });
    });
    return seenOn(socket);
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

function seenOn(socket: TLSSocket): Seen {
  const { standardName } = socket.getCipher();
  return {
    commonName: String(socket.getPeerCertificate().subject.CN),
    version: socket.getProtocol(),
    suite: standardName,
  };
}

async function withListener(open: Open, tls: TlsMaterial, run: (listener: Listener) => Promise<void>): Promise<void> {
  const listener = await open(await listenerOptions(true, serveOk, { tls }));
  try {
    await run(listener);
  } finally {
    await listener.close();
  }
}

for (const [name, open] of OPEN) {
  const test = testOn(name);
  test.serial(`${name}: new connections get the material as it was last replaced, and open ones go on`, async (t) => {
    const taken = new Taken();
    const handler: RequestHandler = (request, response) => {
      if (request.path === '/stream') taken.handler(JSON_HEADERS)(request, response);
      else response.respond(200, JSON_HEADERS, '{}');
    };
    const listener = await open(await listenerOptions(true, handler, { tls: await pair('first') }));
    const client = await RawClient.open(listener.port, true);
    client.send(get('/stream'));
    const stream = await taken.next();
    stream.write(Buffer.from('{"n":1}\n'));
    for (const commonName of ['second', 'third', 'fourth']) {
      await listener.replaceTls(await pair(commonName));
      t.is((await seen(listener.port))?.commonName, commonName);
    }
    await eventually(() => listener.openConnections === 1);
    stream.end(Buffer.from('{"n":2}\n'));
    const lines = (await client.answer()).body.toString().split('\n');
    t.deepEqual(
      lines.map((line) => line.trim()).filter((line) => line !== ''),
      ['{"n":1}', '{"n":2}'],
    );
    client.close();
    await eventually(() => listener.openConnections === 0);
    await listener.close();
    t.is(await seen(listener.port), undefined);
  });

  test.serial(`${name}: material of no use is refused, and what was there stays`, async (t) => {
    const first = await pair('first');
    await withListener(open, first, async (listener) => {
      for (const keyPem of ['nonsense', (await pair('other')).keyPem]) {
        const error = await t.throwsAsync(listener.replaceTls({ ...first, keyPem }));
        t.true(isOrchError(error, 'BadConfiguration'));
        t.is((await seen(listener.port))?.commonName, 'first');
      }
    });
  });

  test.serial(
    `${name}: a client that is closed beside others under replaced material is no longer counted`,
    async (t) => {
      await withListener(open, await pair('first'), async (listener) => {
        const before = await RawClient.open(listener.port, true);
        await listener.replaceTls(await pair('second'));
        const after = await RawClient.open(listener.port, true);
        await eventually(() => listener.openConnections === 2);
        before.close();
        await eventually(() => listener.openConnections === 1);
        after.close();
        await eventually(() => listener.openConnections === 0);
        t.pass();
      });
    },
  );

  test.serial(`${name}: of the older suites only those named can be agreed on, and TLS 1.3 stays`, async (t) => {
    const ciphers = chooseCiphers([
      'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
      'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
    ]);
    t.deepEqual(ciphers.missing, []);
    await withListener(open, { ...(await pair('x')), ciphers }, async ({ port }) => {
      const older = { maxVersion: 'TLSv1.2' as const };
      t.is((await seen(port, older))?.suite, 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
      const chacha = { ...older, ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' };
      t.regex((await seen(port, chacha))?.suite ?? '', /CHACHA20_POLY1305/);
      t.is(await seen(port, { ...older, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }), undefined);
      t.is((await seen(port))?.version, 'TLSv1.3');
    });
  });

  test.serial(`${name}: nothing older than TLS 1.2 is spoken unless it is asked for`, async (t) => {
    await withListener(open, await pair('x'), async ({ port }) => {
      t.is(await seen(port, OLD), undefined);
      t.is((await seen(port, { maxVersion: 'TLSv1.2' }))?.version, 'TLSv1.2');
    });
  });
}

const OLD: ConnectionOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };

test.serial('node: of the suites of TLS 1.3 only those named can be agreed on', async (t) => {
  const ciphers = chooseCiphers(['TLS_AES_128_GCM_SHA256']);
  await withListener(openNodeListener, { ...(await pair('x')), ciphers }, async ({ port }) => {
    t.like(await seen(port), { version: 'TLSv1.3', suite: 'TLS_AES_128_GCM_SHA256' });
    t.is(await seen(port, { ciphers: 'TLS_AES_256_GCM_SHA384' }), undefined);
    t.is(await seen(port, { maxVersion: 'TLSv1.2' }), undefined);
  });
});

test.serial('node: older versions of TLS are spoken where they are asked for', async (t) => {
  await withListener(openNodeListener, { ...(await pair('x')), minVersion: 'TLSv1' }, async ({ port }) => {
    t.is((await seen(port, { ...OLD, maxVersion: 'TLSv1' }))?.version, 'TLSv1');
    t.is((await seen(port, OLD))?.version, 'TLSv1.1');
    t.is((await seen(port))?.version, 'TLSv1.3');
  });
  await withListener(openNodeListener, { ...(await pair('x')), minVersion: 'TLSv1.1' }, async ({ port }) => {
    t.is(await seen(port, { ...OLD, maxVersion: 'TLSv1' }), undefined);
    t.is((await seen(port, OLD))?.version, 'TLSv1.1');
  });
});

test.serial('node: a client gets the certificate of the name it asks for, or of the address it came to', async (t) => {
  const named = async (commonName: string, ...patterns: string[]) => ({ ...(await pair(commonName)), patterns });
  const tls: TlsMaterial = {
    ...(await pair('default')),
    namedPairs: [
      await named('wild', '*.example.com'),
      await named('exact', 'a.example.com'),
      await named('address', '127.0.0.2'),
    ],
  };
  const listener = await openNodeListener(await listenerOptions(true, serveOk, { tls, host: '0.0.0.0' }));
  const { port } = listener;
  const commonName = async (servername?: string, host?: string): Promise<string | undefined> =>
    (await seen(port, servername === undefined ? {} : { servername }, host))?.commonName;
  t.is(await commonName(), 'default');
  t.is(await commonName('elsewhere.test'), 'default');
  t.is(await commonName('a.example.com'), 'exact');
  t.is(await commonName('A.example.COM'), 'exact');
  t.is(await commonName('b.example.com'), 'wild');
  t.is(await commonName(undefined, '127.0.0.2'), 'address');
  t.is(
    await commonName('nobodys.example.org', '127.0.0.2'),
    'default',
    "who asks for a name does not get the address's",
  );
  t.is(await commonName('a.example.com', '127.0.0.2'), 'exact');
  await listener.replaceTls({
    ...(await pair('new default')),
    namedPairs: [await named('new wild', '*.example.com'), await named('new address', '127.0.0.2')],
  });
  t.is(await commonName(), 'new default');
  t.is(await commonName('a.example.com'), 'new wild');
  t.is(await commonName(undefined, '127.0.0.2'), 'new address');
  t.is(await commonName('nobodys.example.org', '127.0.0.2'), 'new default');
  const session = connectHttp2(`https://127.0.0.2:${port}`, { rejectUnauthorized: false });
  const status = await new Promise((resolve, reject) => {
    session.once('error', reject);
    session.request({ ':path': '/' }).once('response', (headers) => resolve(headers[':status']));
  });
  t.is(status, 200);
  t.true(listener.openConnections >= 1);
  session.destroy();
  await listener.close();
});

test.serial(
  'node: certificates of clients are verified against the authorities as they were last replaced',
  async (t) => {
    const [old, next] = [testAuthority(folder, 'old'), testAuthority(folder, 'next')];
    const [byOld, byNext] = [old.issue('by-old', [], 'clientAuth'), next.issue('by-next', [], 'clientAuth')];
    const vouched: boolean[] = [];
    const handler: RequestHandler = (request, response) => {
      vouched.push((request.peerCertificate?.chain.length ?? 0) > 0);
      response.respond(200, JSON_HEADERS, '{}');
    };
    const own = await pair('server');
    const namedPairs = [{ ...(await pair('named')), patterns: ['named'] }];
    const tls: TlsMaterial = { ...own, namedPairs, clientCaPem: old.certPem };
    const listener = await openNodeListener(await listenerOptions(true, handler, { tls }));
    const shows = async ({ certPem, keyPem }: { certPem: string; keyPem: string }, servername: string) => {
      await seen(listener.port, { cert: certPem, key: keyPem, servername });
      return vouched.at(-1);
    };
    for (const servername of ['', 'named']) {
      t.true(await shows(byOld, servername));
      t.false(await shows(byNext, servername));
    }
    await listener.replaceTls({ ...own, namedPairs, clientCaPem: next.certPem });
    for (const servername of ['', 'named']) {
      t.false(await shows(byOld, servername));
      t.true(await shows(byNext, servername));
    }
    await listener.close();
  },
);

test.serial(
  'node: whoever has a connection from before other authorities vouched for clients is asked to come anew, and what is open goes on',
  async (t) => {
    const [old, next] = [testAuthority(folder, 'before'), testAuthority(folder, 'after')];
    const byNext = next.issue('by-next', [], 'clientAuth');
    const shown = { cert: byNext.certPem, key: byNext.keyPem, rejectUnauthorized: false };
    const taken = new Taken();
    const tls: TlsMaterial = { ...(await pair('server')), clientCaPem: old.certPem };
    const listener = await openNodeListener(await listenerOptions(true, taken.handler(JSON_HEADERS), { tls }));
    const url = `https://127.0.0.1:${listener.port}`;
    const open = connectHttp2(url, shown);
    const watch = open.request({ ':path': '/' });
    const watched = await taken.next();
    let goaways = 0;
    const goneAway = new Promise<void>((resolve) =>
      open.on('goaway', () => {
        goaways++;
        resolve();
      }),
    );
    const plain = await RawClient.open(listener.port, true);
    const isKept = async (): Promise<boolean> => {
      plain.send(get('/'));
      (await taken.next()).end(Buffer.from('{}'));
      return (await plain.answer()).headers.get('connection') !== 'close';
    };
    t.true(await isKept());
    // The same authorities, and another certificate of the server's own: nobody is asked for anything.
    await listener.replaceTls({ ...(await pair('renewed')), clientCaPem: old.certPem });
    t.true(await isKept());
    t.is(goaways, 0);
    await listener.replaceTls({ ...tls, clientCaPem: old.certPem + next.certPem });
    await goneAway;
    t.false(await isKept());
    const arrived = new Promise<Buffer>((resolve) => watch.once('data', resolve));
    watched.write(Buffer.from('late'));
    t.is(String(await arrived), 'late');
    const later = connectHttp2(url, shown);
    let laterGoaways = 0;
    later.on('goaway', () => laterGoaways++);
    for (let request = 0; request < 2; request++) {
      const stream = later.request({ ':path': '/' });
      const answered = new Promise((resolve) => stream.once('end', resolve).resume());
      (await taken.next()).end(Buffer.from('{}'));
      await answered;
    }
    t.is(laterGoaways, 0);
    for (const session of [open, later]) session.destroy();
    await listener.close();
  },
);

test.serial(
  'node: a listener that asked for no certificates of clients asks nobody to come anew, whatever it is given',
  async (t) => {
    const listener = await openNodeListener(await listenerOptions(true, serveOk, { tls: await pair('server') }));
    const plain = await RawClient.open(listener.port, true);
    await listener.replaceTls({ ...(await pair('next')), clientCaPem: testAuthority(folder, 'late').certPem });
    for (const client of [plain, await RawClient.open(listener.port, true)]) {
      client.send(get('/'));
      t.not((await client.answer()).headers.get('connection'), 'close');
      client.socket.destroy();
    }
    await listener.close();
  },
);

test.serial(
  'node: certificates for any purpose are those of clients too, where their authority has signed them',
  async (t) => {
    const [known, other] = [testAuthority(folder, 'known'), testAuthority(folder, 'other')];
    const vouched: boolean[] = [];
    const handler: RequestHandler = (request, response) => {
      vouched.push((request.peerCertificate?.chain.length ?? 0) > 0);
      response.respond(200, JSON_HEADERS, '{}');
    };
    const tls: TlsMaterial = { ...(await pair('server')), namedPairs: [], clientCaPem: known.certPem };
    const listener = await openNodeListener(await listenerOptions(true, handler, { tls }));
    for (const [authority, usage, isGood] of [
      [known, 'clientAuth', true],
      [known, 'anyExtendedKeyUsage', true],
      [known, 'codeSigning,anyExtendedKeyUsage', true],
      [known, 'serverAuth', false],
      [other, 'anyExtendedKeyUsage', false],
    ] as const) {
      const { certPem, keyPem } = authority.issue('shown', [], usage);
      await seen(listener.port, { cert: certPem, key: keyPem });
      t.is(vouched.at(-1), isGood, usage);
    }
    // One that brings its authority: who signed it is known, and nobody trusts them.
    for (const usage of ['clientAuth', 'anyExtendedKeyUsage'] as const) {
      const { certPem, keyPem } = other.issue('shown', [], usage);
      await seen(listener.port, { cert: certPem + other.certPem, key: keyPem });
      t.false(vouched.at(-1), usage);
    }
    await listener.close();
  },
);
