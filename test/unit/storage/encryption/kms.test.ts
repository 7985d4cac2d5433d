// Envelope encryption: the client of a key management plugin over a real socket, and how few calls it takes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { KmsProvider } from '../../../../config/encryption-configuration.ts';
import { isOrchError } from '../../../../runtime/errors.ts';
import { realEnvironment } from '../../../../runtime/real-environment.ts';
import { KmsClient } from '../../../../storage/encryption/kms-client.ts';
import type { KeyService } from '../../../../storage/encryption/kms-envelope.ts';
import { isSealedValue } from '../../../../storage/encryption/sealed-value.ts';
import { KmsPlugin } from '../../../server/kms-plugin.ts';
import { encryption, KMS, SECRET_KEY, storedForm } from './encryption-world.ts';

async function pluginFor(t: ExecutionContext): Promise<{ plugin: KmsPlugin; client: KmsClient }> {
  const directory = mkdtempSync(join(tmpdir(), 'kms-'));
  const plugin = new KmsPlugin(join(directory, 'kms.sock'));
  await plugin.start();
  const client = clientOf(plugin);
  t.teardown(async () => {
    client.close();
    await plugin.stop();
    rmSync(directory, { recursive: true });
  });
  return { plugin, client };
}

/** The thread runs other tests as well, on a busy machine for minutes. */
const PATIENT_MS = 240_000;

function clientOf({ socketPath }: KmsPlugin, timeoutMs = PATIENT_MS): KmsClient {
  const provider: KmsProvider = { kind: 'kms', name: 'vault', socketPath, cacheSize: 10, timeoutMs };
  return new KmsClient(provider, realEnvironment.timers);
}

test('what a plugin wrapped it unwraps, after saying its version once', async (t) => {
  const { plugin, client } = await pluginFor(t);
  const secret = Buffer.from('a data key');
  const wrapped = await client.encrypt(secret);
  t.notDeepEqual(Buffer.from(wrapped), secret);
  t.deepEqual(Buffer.from(await client.decrypt(wrapped)), secret);
  t.deepEqual(plugin.calls, ['Version', 'Encrypt', 'Decrypt']);
  const [{ 'content-type': type, te, ':method': method, ':path': path, 'grpc-timeout': timeout } = {}] = plugin.headers;
  t.deepEqual(
    [type, te, method, path, timeout],
    ['application/grpc', 'trailers', 'POST', '/v1beta1.KeyManagementService/Version', `${PATIENT_MS}m`],
  );
});

test('a connection that breaks is made again, and whoever answers is asked its version', async (t) => {
  const { plugin, client } = await pluginFor(t);
  await client.encrypt(Buffer.from('x'));
  plugin.disconnect();
  for (;;) {
    // Until the client has heard of it, a call may fail; none hangs.
    const wrapped = await client.encrypt(Buffer.from('y')).catch(() => undefined);
    if (wrapped !== undefined && plugin.calls.filter((call) => call === 'Version').length === 2) break;
  }
  await plugin.stop();
  await t.throwsAsync(client.encrypt(Buffer.from('z')), { message: /^the key management service vault failed to / });
  await plugin.start();
  t.truthy(await client.encrypt(Buffer.from('z')));
});

const FAILURES: readonly (readonly [what: string, spoil: (plugin: KmsPlugin) => void, told: RegExp])[] = [
  [
    'an error',
    ({ temper }) => (temper.failure = { status: '7', message: 'not%20you' }),
    /failed to encrypt: permission denied: "not you"$/,
  ],
  [
    'an unknown status',
    ({ temper }) => (temper.failure = { status: '99', message: '' }),
    /failed to encrypt: status 99$/,
  ],
  ['another version', ({ temper }) => (temper.version = 'v2'), /failed to version: it speaks "v2", not v1beta1$/],
  ['half a frame', ({ temper }) => (temper.garbage = Buffer.from([0, 0, 0, 9, 9, 1])), /not one uncompressed message$/],
  [
    'a compressed frame',
    ({ temper }) => (temper.garbage = Buffer.from([1, 0, 0, 0, 1, 1])),
    /not one uncompressed message$/,
  ],
  [
    'no message',
    ({ temper }) => (temper.garbage = Buffer.from([0, 0, 0, 0, 2, 0x0a, 0x7f])),
    /no message|cut|beyond|length/,
  ],
  [
    'another HTTP status',
    ({ temper }) => (temper.httpStatus = 404),
    /failed to version: it answers with HTTP status 404$/,
  ],
  ['too much', ({ temper }) => (temper.garbage = Buffer.alloc(300_000)), /longer than 262144 bytes$/],
];

for (const [what, spoil, told] of FAILURES) {
  test(`a plugin that answers with ${what} is told of in one line`, async (t) => {
    const { plugin, client } = await pluginFor(t);
    spoil(plugin);
    const error = await t.throwsAsync(client.encrypt(Buffer.from('SECRET')));
    t.regex(error?.message ?? '', told);
    t.false(/SECRET|\n/.test(error?.message ?? ''));
  });
}

const STATUSES: Readonly<Record<string, string>> = {
  2: 'unknown error',
  3: 'invalid argument',
  4: 'deadline exceeded',
  7: 'permission denied',
  12: 'unimplemented',
  13: 'internal error',
  14: 'unavailable',
  16: 'unauthenticated',
};

test('a plugin that fails is told of by the name of its status', async (t) => {
  const { plugin, client } = await pluginFor(t);
  await client.encrypt(Buffer.from('x'));
  for (const [status, name] of Object.entries(STATUSES)) {
    plugin.temper.failure = { status, message: '' };
    await t.throwsAsync(client.encrypt(Buffer.from('x')), {
      message: `the key management service vault failed to encrypt: ${name}`,
    });
  }
});

test('a plugin that does not answer in time is given up, and asked again by the next call', async (t) => {
  const { plugin } = await pluginFor(t);
  const client = clientOf(plugin, 50);
  t.teardown(() => client.close());
  plugin.temper.silent = true;
  await t.throwsAsync(client.encrypt(Buffer.from('x')), { message: /no answer within 50 ms$/ });
  plugin.temper.silent = false;
  t.truthy(await clientOf(plugin).encrypt(Buffer.from('x')));
});

test('a socket that is not there is told of', async (t) => {
  const client = clientOf(new KmsPlugin('/nowhere/kms.sock'));
  await t.throwsAsync(client.encrypt(Buffer.from('x')), { message: /ENOENT/ });
});

/** A service in memory that counts, and can be away. */
class CountingService implements KeyService {
  wraps = 0;
  unwraps = 0;
  isAway = false;
  /** What it changes in what it unwraps: not 0 in one that errs. */
  mask = 0;

  async encrypt(plain: Uint8Array): Promise<Uint8Array> {
    if (this.isAway) throw new Error('the service is away');
    this.wraps++;
    return plain.map((byte) => byte ^ 0x33);
  }

  async decrypt(wrapped: Uint8Array): Promise<Uint8Array> {
    if (this.isAway) throw new Error('the service is away');
    this.unwraps++;
    return wrapped.map((byte) => byte ^ 0x33 ^ this.mask);
  }

  close(): void {}
}

const WRITE = [{ operations: [{ key: SECRET_KEY }] }];
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('one data key serves many writes, and the next is there before it is spent', async (t) => {
  const service = new CountingService();
  const values = encryption([KMS], { service });
  const stored = storedForm(SECRET_KEY, 'MARKER');
  t.is(values.readyFor([{ operations: [{ key: 'core/configmaps/default/c' }] }]), undefined, 'not for other resources');
  await values.readyFor(WRITE);
  const sealed: Buffer[] = [];
  for (let n = 0; n < 3000; n++) {
    t.is(values.readyFor(WRITE), undefined, 'no write waits');
    sealed.push(values.seal(SECRET_KEY, stored));
    await turn();
  }
  t.true(service.wraps >= 3 && service.wraps <= 8, `${service.wraps} data keys`);
  t.true(
    sealed.every((bytes) => isSealedValue(bytes) && bytes.includes('orch:enc:kms:v1:k:') && !bytes.includes('MARKER')),
  );
  t.is(service.unwraps, service.wraps, 'each data key is tried once');

  service.unwraps = 0;
  const again = encryption([KMS], { service });
  for (const bytes of sealed) t.deepEqual(Buffer.from(await again.open(SECRET_KEY, bytes)), stored);
  t.true(service.unwraps >= 3 && service.unwraps <= service.wraps, 'each data key is unwrapped once at most');
});

test('data keys beyond the cache are unwrapped anew', async (t) => {
  const service = new CountingService();
  const sealed: Buffer[] = [];
  for (let n = 0; n < 5; n++) {
    const values = encryption([KMS], { service });
    await values.readyFor(WRITE);
    sealed.push(values.seal(SECRET_KEY, storedForm(SECRET_KEY, 'x')));
  }
  service.unwraps = 0;
  const values = encryption([{ ...KMS, cacheSize: 2 } as typeof KMS], { service });
  for (const round of [1, 2]) {
    for (const bytes of sealed) await values.open(SECRET_KEY, bytes);
    t.is(service.unwraps, 5 * round);
  }
  await values.open(SECRET_KEY, sealed[4]!);
  t.is(service.unwraps, 10);
});

test('without a cache each value is unwrapped anew, also what was written under the present data key', async (t) => {
  const service = new CountingService();
  const values = encryption([{ ...KMS, cacheSize: 0 } as typeof KMS], { service });
  await values.readyFor(WRITE);
  const sealed = values.seal(SECRET_KEY, storedForm(SECRET_KEY, 'x'));
  service.unwraps = 0;
  for (const round of [1, 2]) {
    await values.open(SECRET_KEY, sealed);
    t.is(service.unwraps, round);
  }
});

test('while the service is away writes go on under the present data key, and are refused when it is spent', async (t) => {
  const service = new CountingService();
  let nowMs = 0;
  const values = encryption([KMS], { service, monotonicMs: () => nowMs });
  await values.readyFor(WRITE);
  service.isAway = true;
  for (let n = 0; n < 1000; n++) {
    t.is(values.readyFor(WRITE), undefined);
    values.seal(SECRET_KEY, storedForm(SECRET_KEY, 'x'));
    if (n % 100 === 0) await turn();
  }
  const refused = await t.throwsAsync(async () => values.readyFor(WRITE));
  t.true(isOrchError(refused, 'StorageFailed') && refused.message === 'the service is away');
  t.is(await values.envelopes[0]!.problem(), 'the service is away');
  service.isAway = false;
  t.is(await values.envelopes[0]!.problem(), '');
  await values.readyFor(WRITE);
  t.is(values.readyFor(WRITE), undefined);
  nowMs = 3_600_000;
  t.not(values.readyFor(WRITE), undefined, 'an hour later the data key has had its time');
});

test('however many ask whether the service answers, it is asked once, and while it does once in twenty seconds', async (t) => {
  const service = new CountingService();
  let nowMs = 0;
  const [envelope] = encryption([KMS], { service, monotonicMs: () => nowMs }).envelopes;
  const askers = Array.from({ length: 50 }, () => envelope!.problem());
  t.true((await Promise.all(askers)).every((problem) => problem === ''));
  service.isAway = true;
  nowMs = 19_999;
  t.is(await envelope!.problem(), '');
  t.deepEqual([service.wraps, service.unwraps], [1, 1]);
  nowMs = 20_000;
  t.is(await envelope!.problem(), 'the service is away');
  service.isAway = false;
  t.is(await envelope!.problem(), '', 'that it is back is told at once');
  t.deepEqual([service.wraps, service.unwraps], [2, 2]);
});

test('nothing is written under a data key that the service does not unwrap to what it was', async (t) => {
  const service = new CountingService();
  const values = encryption([KMS], { service });
  service.mask = 1;
  const refused = await t.throwsAsync(async () => values.readyFor(WRITE));
  t.true(isOrchError(refused, 'StorageFailed') && /does not decrypt what it encrypted/.test(refused.message));
  service.mask = 0;
  await values.readyFor(WRITE);
  t.is(values.readyFor(WRITE), undefined);
});

test('a service that has unwrapped to another key once is asked again', async (t) => {
  const service = new CountingService();
  const writer = encryption([KMS], { service });
  await writer.readyFor(WRITE);
  const stored = storedForm(SECRET_KEY, 'x');
  const sealed = writer.seal(SECRET_KEY, stored);
  const values = encryption([KMS], { service });
  service.mask = 1;
  await t.throwsAsync(async () => values.open(SECRET_KEY, sealed), { message: /wrong key/ });
  service.mask = 0;
  t.deepEqual(Buffer.from(await values.open(SECRET_KEY, sealed)), stored);
});

test('a service that cannot unwrap says so of the object and the prefix', async (t) => {
  const service = new CountingService();
  const values = encryption([KMS], { service });
  await values.readyFor(WRITE);
  const sealed = values.seal(SECRET_KEY, storedForm(SECRET_KEY, 'MARKER'));
  service.isAway = true;
  await t.throwsAsync(async () => encryption([KMS], { service }).open(SECRET_KEY, sealed), {
    message: `the stored value of ${SECRET_KEY} cannot be read: orch:enc:kms:v1:k: does not decrypt it (the service is away)`,
  });
});

/** A service whose wrapped keys have a size of its own. */
class SizedService implements KeyService {
  readonly #bytes: number;
  #secret: Uint8Array = new Uint8Array();

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  async encrypt(plain: Uint8Array): Promise<Uint8Array> {
    this.#secret = plain;
    return new Uint8Array(this.#bytes);
  }

  async decrypt(): Promise<Uint8Array> {
    return this.#secret;
  }

  close(): void {}
}

test('a wrapped data key has a size that a payload can say, and what it unwraps to is a key', async (t) => {
  for (const bytes of [0, 65_536]) {
    const refused = await t.throwsAsync(async () =>
      encryption([KMS], { service: new SizedService(bytes) }).readyFor(WRITE),
    );
    t.true(isOrchError(refused, 'StorageFailed'));
    t.is(refused?.message, `the key management service k wraps keys in ${bytes} bytes`);
  }
  const service = new SizedService(65_535);
  const values = encryption([KMS], { service });
  await values.readyFor(WRITE);
  const stored = storedForm(SECRET_KEY, 'x');
  const sealed = values.seal(SECRET_KEY, stored);
  const other = encryption([KMS], { service });
  t.deepEqual(Buffer.from(await other.open(SECRET_KEY, sealed)), stored);
  await service.encrypt(new Uint8Array(16));
  await t.throwsAsync(async () => encryption([KMS], { service }).open(SECRET_KEY, sealed), {
    message: /the key management service k unwraps to a key of 16 bytes/,
  });
});

test('a payload without a whole wrapped key is asked nobody about', async (t) => {
  const service = new CountingService();
  const values = encryption([KMS], { service });
  await values.readyFor(WRITE);
  service.unwraps = 0;
  const [envelope] = values.envelopes;
  for (const payload of [[], [0], [0, 0], [0, 0, 1, 2], [0, 3, 1, 2], [255, 255, 1]])
    t.throws(() => envelope!.open(Uint8Array.from(payload), SECRET_KEY), { message: 'the payload is too short' });
  t.is(service.unwraps, 0);
});
