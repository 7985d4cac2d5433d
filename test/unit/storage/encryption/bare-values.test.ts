// Values of another server's form on their way to disk and back: its prefix and its payload alone, bound to the path they lie under.
import test from 'ava';
import type { EncryptionProvider } from '../../../../config/encryption-configuration.ts';
import type { KeyService } from '../../../../storage/encryption/kms-envelope.ts';
import { isBareSealed } from '../../../../storage/encryption/stored-encryption.ts';
import { encryption, KMS, keyed, SECRET_KEY } from './encryption-world.ts';

const IDENTITY: EncryptionProvider = { kind: 'identity' };
const PATH = '/registry/secrets/default/s';
const PLAIN = Buffer.from('k8s\0 a secret');
const SERVICE: KeyService = {
  encrypt: async (plain) => Buffer.concat([Buffer.from('wrapped'), plain]),
  decrypt: async (wrapped) => wrapped.subarray('wrapped'.length),
  close: () => {},
};

for (const kind of ['aescbc', 'aesgcm', 'secretbox'] as const) {
  test(`a value under ${kind} is its prefix and its payload`, (t) => {
    const values = encryption([keyed(kind, 'a', 1)]);
    const sealed = Buffer.from(values.sealBare(SECRET_KEY, PATH, PLAIN));
    t.true(sealed.toString('latin1').startsWith(`orch:enc:${kind}:v1:a:`));
    t.true(isBareSealed(sealed, 'orch:enc:'));
    t.false(sealed.includes('a secret'));
    t.deepEqual(Buffer.from(values.openBare(SECRET_KEY, PATH, sealed) as Uint8Array), PLAIN);
    t.false(values.isBareStale(SECRET_KEY, sealed));
    t.true(encryption([keyed(kind, 'b', 2), keyed(kind, 'a', 1)]).isBareStale(SECRET_KEY, sealed));
    t.throws(() => encryption([keyed(kind, 'b', 2)]).openBare(SECRET_KEY, PATH, sealed), {
      message: /\/registry\/secrets\/default\/s cannot be read: no provider .* reads it/,
    });
  });
}

test('a value under aesgcm is bound to its path', (t) => {
  const values = encryption([keyed('aesgcm', 'a', 1)]);
  const sealed = values.sealBare(SECRET_KEY, PATH, PLAIN);
  t.throws(() => values.openBare(SECRET_KEY, '/registry/secrets/default/other', sealed), {
    message: /other cannot be read: orch:enc:aesgcm:v1:a: does not decrypt it/,
  });
});

test('a key management service wraps the key of a value, which another process unwraps', async (t) => {
  const [one, other] = [encryption([KMS], { service: SERVICE }), encryption([KMS], { service: SERVICE })];
  await one.readyFor([{ operations: [{ key: SECRET_KEY }] }]);
  const sealed = Buffer.from(one.sealBare(SECRET_KEY, PATH, PLAIN));
  t.true(sealed.toString('latin1').startsWith('orch:enc:kms:v1:k:'));
  const opened = other.openBare(SECRET_KEY, PATH, sealed);
  t.true(opened instanceof Promise);
  t.deepEqual(Buffer.from(await opened), PLAIN);
  const broken = Buffer.from(sealed);
  broken[broken.length - 20]! ^= 1;
  await t.throwsAsync(async () => other.openBare(SECRET_KEY, PATH, broken.subarray(0, -7)), {
    message: /does not decrypt it/,
  });
});

test('what is not encrypted is read where identity is among the providers, and where nothing is said', (t) => {
  t.is(encryption([keyed('aescbc', 'a', 1), IDENTITY]).openBare(SECRET_KEY, PATH, PLAIN), PLAIN);
  t.true(encryption([keyed('aescbc', 'a', 1), IDENTITY]).isBareStale(SECRET_KEY, PLAIN));
  t.is(encryption([IDENTITY]).sealBare(SECRET_KEY, PATH, PLAIN), PLAIN);
  const other = 'core/configmaps/default/c';
  t.is(encryption([keyed('aescbc', 'a', 1)]).sealBare(other, PATH, PLAIN), PLAIN);
  t.is(encryption([keyed('aescbc', 'a', 1)]).openBare(other, PATH, PLAIN), PLAIN);
  t.throws(() => encryption([keyed('aescbc', 'a', 1)]).openBare(SECRET_KEY, PATH, PLAIN), { message: /no provider/ });
});
