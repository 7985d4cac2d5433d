// Values on their way to disk and back: every provider, rotation, and what is refused, with what is said of it.
import test from 'ava';
import type { EncryptionProvider } from '../../../../config/encryption-configuration.ts';
import { isOrchError } from '../../../../runtime/errors.ts';
import { isSealedValue, unreadableIn, writeSealedValue } from '../../../../storage/encryption/sealed-value.ts';
import { readStoredValue, storedRevision } from '../../../../storage/forms/stored-value.ts';
import { encryption, keyed, SECRET_KEY, storedForm } from './encryption-world.ts';

const IDENTITY: EncryptionProvider = { kind: 'identity' };
const PROVIDERS: readonly (readonly [prefix: string, provider: EncryptionProvider])[] = [
  ['orch:enc:aescbc:v1:a:', keyed('aescbc', 'a', 1, 16)],
  ['orch:enc:aescbc:v1:a:', keyed('aescbc', 'a', 1, 24)],
  ['orch:enc:aescbc:v1:a:', keyed('aescbc', 'a', 1, 32)],
  ['orch:enc:aesgcm:v1:a:', keyed('aesgcm', 'a', 1, 16)],
  ['orch:enc:aesgcm:v1:a:', keyed('aesgcm', 'a', 1, 24)],
  ['orch:enc:aesgcm:v1:a:', keyed('aesgcm', 'a', 1, 32)],
  ['orch:enc:secretbox:v1:a:', keyed('secretbox', 'a', 1, 32)],
];
const MARKER = 'MARKER-of-the-secret';

/** The error of what must not be read; it names the object and never its data. */
function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!isOrchError(error, 'StoreUnusable')) throw error;
    if (error.message.includes(MARKER) || error.message.includes('\n')) throw new Error(`told: ${error.message}`);
    return error.message;
  }
  return 'nothing was refused';
}

for (const [prefix, provider] of PROVIDERS) {
  const bytes = 'keys' in provider ? provider.keys[0]!.secret.length : 0;
  test(`a value under ${prefix} with a key of ${bytes} bytes is hidden, and comes back whole`, (t) => {
    const values = encryption([provider]);
    const stored = storedForm(SECRET_KEY, MARKER);
    const sealed = values.seal(SECRET_KEY, stored);
    t.true(isSealedValue(sealed));
    t.is(sealed.indexOf(prefix), 24);
    t.false(sealed.includes(MARKER) || sealed.includes('Secret'));
    t.is(storedRevision(SECRET_KEY, sealed), 7);
    t.is(readStoredValue(SECRET_KEY, sealed), undefined);
    t.deepEqual(Buffer.from(values.open(SECRET_KEY, sealed) as Uint8Array), stored);
    t.notDeepEqual(values.seal(SECRET_KEY, stored), sealed, 'no two are alike');
    t.false(values.isStale(SECRET_KEY, sealed));
  });

  test(`no changed bit of a value under ${prefix} with a key of ${bytes} bytes is believed`, (t) => {
    const values = encryption([provider]);
    const sealed = values.seal(SECRET_KEY, storedForm(SECRET_KEY, MARKER));
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 0x10;
      // Whoever opens it looks at the plain form's checksum next.
      let plain: Uint8Array | Promise<Uint8Array> = new Uint8Array();
      try {
        plain = values.open(SECRET_KEY, changed);
      } catch (error) {
        if (!isOrchError(error, 'StoreUnusable')) throw error;
      }
      t.is(readStoredValue(SECRET_KEY, plain as Uint8Array), undefined, `byte ${at}`);
    }
  });
}

test('a wrong key under the right name is noticed, and what is said names object and prefix', (t) => {
  for (const kind of ['aescbc', 'aesgcm', 'secretbox'] as const) {
    const written = encryption([keyed(kind, 'a', 1)]);
    const values = encryption([keyed(kind, 'a', 2)]);
    let refused = 0;
    for (let round = 0; round < 20; round++) {
      const sealed = written.seal(SECRET_KEY, storedForm(SECRET_KEY, MARKER));
      // Padding alone says yes to a wrong key once in 256 times; then the plain form's checksum says no.
      try {
        t.is(readStoredValue(SECRET_KEY, values.open(SECRET_KEY, sealed) as Uint8Array), undefined);
      } catch {
        refused++;
        const told = refusal(() => values.open(SECRET_KEY, sealed));
        t.regex(
          told,
          new RegExp(`the stored value of ${SECRET_KEY} cannot be read: orch:enc:${kind}:v1:a: does not decrypt it`),
        );
      }
    }
    t.true(refused > 10);
  }
});

test('a key that is not there is named', (t) => {
  const sealed = encryption([keyed('aesgcm', 'old', 1)]).seal(SECRET_KEY, storedForm(SECRET_KEY, MARKER));
  const missing = 'it is encrypted with orch:enc:aesgcm:v1:old:, and --encryption-provider-config has no such provider';
  t.is(
    refusal(() => encryption([keyed('aesgcm', 'new', 1), IDENTITY]).open(SECRET_KEY, sealed)),
    `the stored value of ${SECRET_KEY} cannot be read: ${missing} among those of secrets`,
  );
  t.is(
    refusal(() => encryption([IDENTITY], { resource: 'configmaps' }).open(SECRET_KEY, sealed)),
    `the stored value of ${SECRET_KEY} cannot be read: ${missing}`,
  );
});

test('a value moved to another object is refused', (t) => {
  const other = 'core/secrets/default/other';
  const stored = storedForm(SECRET_KEY, MARKER);
  for (const kind of ['aescbc', 'aesgcm', 'secretbox'] as const) {
    const values = encryption([keyed(kind, 'a', 1)]);
    const sealed = values.seal(SECRET_KEY, stored);
    t.regex(
      refusal(() => values.open(other, sealed)),
      /does not match its checksum/,
    );
    const prefix = Buffer.from(`orch:enc:${kind}:v1:a:`);
    const forged = writeSealedValue(other, stored, prefix, sealed.subarray(24 + prefix.length));
    // Bound to its object by the tag, or else by the plain form's checksum.
    if (kind === 'aesgcm')
      t.regex(
        refusal(() => values.open(other, forged)),
        /wrong key, or changed bytes/,
      );
    else t.is(readStoredValue(other, values.open(other, forged) as Uint8Array), undefined);
  }
});

test('all providers read, the first writes, and what another wrote is stale', (t) => {
  const rotations = [keyed('aescbc', 'old', 1), keyed('aesgcm', 'old', 2), keyed('secretbox', 'old', 3), IDENTITY];
  const stored = storedForm(SECRET_KEY, MARKER);
  for (const old of rotations) {
    const before = encryption([old]).seal(SECRET_KEY, stored);
    const values = encryption([keyed('aesgcm', 'new', 9), old]);
    t.deepEqual(Buffer.from(values.open(SECRET_KEY, before) as Uint8Array), stored);
    t.true(values.isStale(SECRET_KEY, before));
    const after = values.seal(SECRET_KEY, stored);
    t.is(after.indexOf('orch:enc:aesgcm:v1:new:'), 24);
    t.false(values.isStale(SECRET_KEY, after));
  }
  const keys = [
    { name: 'two', secret: new Uint8Array(32).fill(2) },
    { name: 'one', secret: new Uint8Array(32).fill(1) },
  ];
  const ring = encryption([{ kind: 'aescbc', keys }]);
  const one = encryption([keyed('aescbc', 'one', 1)]).seal(SECRET_KEY, stored);
  t.deepEqual(Buffer.from(ring.open(SECRET_KEY, one) as Uint8Array), stored);
  t.true(ring.isStale(SECRET_KEY, one));
});

test('identity leaves values as they are, and without it they are refused', (t) => {
  const stored = storedForm(SECRET_KEY, MARKER);
  const values = encryption([IDENTITY, keyed('aescbc', 'a', 1)]);
  t.is(values.seal(SECRET_KEY, stored), stored);
  t.is(values.open(SECRET_KEY, stored), stored);
  t.false(values.isStale(SECRET_KEY, stored));
  t.true(values.isStale(SECRET_KEY, encryption([keyed('aescbc', 'a', 1)]).seal(SECRET_KEY, stored)));
  t.is(
    refusal(() => encryption([keyed('aescbc', 'a', 1)]).open(SECRET_KEY, stored)),
    `the stored value of ${SECRET_KEY} cannot be read: it is not encrypted, and the providers of secrets do not include identity`,
  );
});

test('other resources are left as they are', (t) => {
  const values = encryption([keyed('aesgcm', 'a', 1)]);
  for (const key of ['core/configmaps/default/s', 'core/secretsx/default/s', 'apps/secrets/default/s']) {
    const stored = storedForm(key, MARKER);
    t.is(values.seal(key, stored), stored);
    t.is(values.open(key, stored), stored);
    t.false(values.isStale(key, stored));
  }
});

/** What clients are told of what must not be read. */
function toldOf(read: () => unknown): string | undefined {
  try {
    read();
  } catch (error) {
    return unreadableIn(error)?.told;
  }
  return 'nothing was refused';
}

test("what clients are told of what cannot be read is the original's words", (t) => {
  const stored = storedForm(SECRET_KEY, MARKER);
  const told = (writer: EncryptionProvider, ...readers: EncryptionProvider[]): string | undefined => {
    const sealed = encryption([writer]).seal(SECRET_KEY, stored);
    return toldOf(() => encryption(readers).open(SECRET_KEY, sealed));
  };
  const noKey = (cipher: string): string => `no matching key was found for the provided ${cipher} transformer`;
  t.is(told(keyed('aescbc', 'a', 1), keyed('aescbc', 'b', 1), IDENTITY), noKey('AES'));
  t.is(told(keyed('aesgcm', 'a', 1), keyed('aesgcm', 'b', 1)), noKey('AES'));
  t.is(told(keyed('secretbox', 'a', 1), keyed('secretbox', 'b', 1)), noKey('Secretbox'));
  t.is(told(keyed('aescbc', 'a', 1), keyed('aesgcm', 'a', 1), IDENTITY), 'no matching prefix found');
  t.is(told(IDENTITY, keyed('aescbc', 'a', 1)), 'no matching prefix found');
  t.is(told(keyed('aesgcm', 'a', 1), keyed('aesgcm', 'a', 2)), 'cipher: message authentication failed');
  const elsewhere = encryption([keyed('aescbc', 'a', 1)], { resource: 'configmaps' });
  const sealed = encryption([keyed('aescbc', 'a', 1)]).seal(SECRET_KEY, stored);
  t.is(
    toldOf(() => elsewhere.open(SECRET_KEY, sealed)),
    'identity transformer tried to read encrypted data',
  );
});
