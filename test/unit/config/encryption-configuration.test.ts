// The file of --encryption-provider-config: what it says, and what is said of one that cannot be used.
import test from 'ava';
import { DIALECTS } from '../../../config/dialect.ts';
import { readEncryptionConfiguration } from '../../../config/encryption-configuration.ts';

const KEY_16 = Buffer.alloc(16, 1).toString('base64');
const KEY_32 = Buffer.alloc(32, 2).toString('base64');

function file(...resources: unknown[]): Record<string, unknown> {
  return { kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.orch.io/v1', resources };
}

function entry(...providers: unknown[]): Record<string, unknown> {
  return { resources: ['secrets'], providers };
}

const keyed = (kind: string, ...keys: unknown[]): object => ({ [kind]: { keys } });
const KMS = { name: 'k', endpoint: 'unix:///run/kms.sock' };

test('a file of every provider is read as it is written', (t) => {
  const configuration = file(
    {
      resources: ['secrets', 'deployments.apps', 'widgets.example.com'],
      providers: [
        keyed('aesgcm', { name: 'b', secret: KEY_32 }, { name: 'a', secret: KEY_16 }),
        keyed('aescbc', { name: 'b', secret: KEY_16 }),
        keyed('secretbox', { name: 'c', secret: KEY_32 }),
        { kms: { name: 'k', endpoint: 'unix:///run/kms.sock', cachesize: 5, timeout: '1.5s' } },
        { kms: { ...KMS, name: 'abstract', endpoint: 'unix:///@kms' } },
        { kms: { ...KMS, name: 'escaped', endpoint: 'unix:///run/my%20kms%23.sock' } },
        { identity: {} },
      ],
    },
    { resources: ['configmaps'], providers: [{ identity: {} }] },
  );
  const key = (name: string, bytes: number, fill: number) => ({ name, secret: new Uint8Array(bytes).fill(fill) });
  const kms = { kind: 'kms', name: 'k', socketPath: '/run/kms.sock', cacheSize: 5, timeoutMs: 1500 } as const;
  t.deepEqual(readEncryptionConfiguration(configuration, DIALECTS.orch), [
    {
      resources: ['secrets', 'deployments.apps', 'widgets.example.com'],
      providers: [
        { kind: 'aesgcm', keys: [key('b', 32, 2), key('a', 16, 1)] },
        { kind: 'aescbc', keys: [key('b', 16, 1)] },
        { kind: 'secretbox', keys: [key('c', 32, 2)] },
        kms,
        { ...kms, name: 'abstract', socketPath: '\0kms', cacheSize: 1000, timeoutMs: 3000 },
        { ...kms, name: 'escaped', socketPath: '/run/my kms#.sock', cacheSize: 1000, timeoutMs: 3000 },
        { kind: 'identity' },
      ],
    },
    { resources: ['configmaps'], providers: [{ kind: 'identity' }] },
  ]);
});

test('what is null is as if it were left out, and what is at its bound is taken', (t) => {
  const socketPath = `/${'a'.repeat(106)}`;
  const most = { name: 'a', endpoint: `unix://${socketPath}`, cachesize: 2 ** 31 - 1, timeout: '1h' };
  const content = file(entry({ kms: { ...KMS, cachesize: null, timeout: null } }, { kms: most }));
  t.deepEqual(readEncryptionConfiguration(content, DIALECTS.orch)[0]!.providers, [
    { kind: 'kms', name: 'k', socketPath: '/run/kms.sock', cacheSize: 1000, timeoutMs: 3000 },
    { kind: 'kms', name: 'a', socketPath, cacheSize: 2 ** 31 - 1, timeoutMs: 3_600_000 },
  ]);
});

test('a negative cachesize keeps no data keys', (t) => {
  const content = file(entry({ kms: { ...KMS, cachesize: -1 } }));
  t.like(readEncryptionConfiguration(content, DIALECTS.orch)[0]!.providers[0], { cacheSize: 0 });
});

test('each dialect has an apiVersion of its own', (t) => {
  const content = { ...file(entry({ identity: {} })), apiVersion: 'apiserver.config.k8s.io/v1' };
  t.is(readEncryptionConfiguration(content, DIALECTS.kubernetes).length, 1);
  t.throws(() => readEncryptionConfiguration(content, DIALECTS.orch), {
    message: 'apiVersion: must be apiserver.config.orch.io/v1, not "apiserver.config.k8s.io/v1"',
  });
});

test('a file under the name it had at first is read', (t) => {
  const content = { ...file(entry({ identity: {} })), kind: 'EncryptionConfig', apiVersion: 'v1' };
  for (const dialect of Object.values(DIALECTS)) t.is(readEncryptionConfiguration(content, dialect).length, 1);
  t.throws(() => readEncryptionConfiguration({ ...content, apiVersion: 'v2' }, DIALECTS.orch), {
    message: /^kind: must be/,
  });
});

const SECRET = 'resources[0].providers[0].aescbc.keys[0].secret';
const PROVIDER = 'resources[0].providers[0]';
const REFUSED: readonly (readonly [content: unknown, message: string])[] = [
  [null, 'the file must hold an EncryptionConfiguration'],
  [[], 'the file must hold an EncryptionConfiguration'],
  [{}, 'kind: must be EncryptionConfiguration'],
  [{ ...file(), kind: 'Config' }, 'kind: must be EncryptionConfiguration, not "Config"'],
  [{ ...file(), apiVersion: 'v1' }, 'apiVersion: must be apiserver.config.orch.io/v1, not "v1"'],
  [{ ...file(), extra: 1 }, 'extra: is an unknown field'],
  [JSON.parse('{"__proto__": {}}'), '__proto__: is an unknown field'],
  [{ ...file(), resources: undefined }, 'resources: is required'],
  [{ ...file(), resources: 'secrets' }, 'resources: must be a list'],
  [file(), 'resources: must not be empty'],
  [file('secrets'), 'resources[0]: must be an object'],
  [file({ providers: [{ identity: {} }] }), 'resources[0].resources: is required'],
  [file({ resources: [], providers: [] }), 'resources[0].resources: must not be empty'],
  [
    file({ resources: ['*'], providers: [] }),
    'resources[0].resources[0]: must be a resource, such as secrets or deployments.apps',
  ],
  [
    file({ resources: [7], providers: [] }),
    'resources[0].resources[0]: must be a resource, such as secrets or deployments.apps',
  ],
  [file({ resources: ['secrets'] }), 'resources[0].providers: is required'],
  [file(entry()), 'resources[0].providers: must not be empty'],
  // No blank behind the colon: the key is a part of the name.
  [
    file(entry({ aesgcm: { keys: [{ name: 'a', 'secret:YWJj+w==': null }] } })),
    `${PROVIDER}.aesgcm.keys[0].secret…: is an unknown field`,
  ],
  [file({ ...entry({}), more: 1 }), 'resources[0].more: is an unknown field'],
  [file(entry({})), `${PROVIDER}: must name a provider: identity, aescbc, aesgcm, secretbox, kms`],
  [file(entry({ rot13: {} })), `${PROVIDER}.rot13: is an unknown field`],
  [file(entry({ identity: {}, aescbc: {} })), `${PROVIDER}: must name one provider, not 2: identity, aescbc`],
  [file(entry({ identity: { a: 1 } })), `${PROVIDER}.identity.a: is an unknown field`],
  [file(entry({ aescbc: {} })), `${PROVIDER}.aescbc.keys: is required`],
  [file(entry(keyed('aescbc'))), `${PROVIDER}.aescbc.keys: must not be empty`],
  [file(entry(keyed('aescbc', { secret: KEY_16 }))), `${PROVIDER}.aescbc.keys[0].name: is required`],
  [
    file(entry(keyed('aescbc', { name: 'a:b', secret: KEY_16 }))),
    `${PROVIDER}.aescbc.keys[0].name: must be a text of at most 253 characters without colons and blanks`,
  ],
  ...[null, ''].flatMap((nothing): [unknown, string][] => [
    [file(entry(keyed('aescbc', { name: nothing, secret: KEY_16 }))), `${PROVIDER}.aescbc.keys[0].name: is required`],
    [file(entry(keyed('aescbc', { name: 'a', secret: nothing }))), `${SECRET}: is required`],
    [file(entry({ kms: { ...KMS, endpoint: nothing } })), `${PROVIDER}.kms.endpoint: is required`],
  ]),
  [
    file(entry(keyed('aescbc', { name: 7, secret: KEY_16 }))),
    `${PROVIDER}.aescbc.keys[0].name: must be a text of at most 253 characters without colons and blanks`,
  ],
  [file(entry(keyed('aescbc', { name: 'a', secret: 7 }))), `${SECRET}: must be base64`],
  [file(entry(keyed('aescbc', { name: 'a' }))), `${SECRET}: is required`],
  [file(entry(keyed('aescbc', { name: 'a', secret: 'se-cret' }))), `${SECRET}: must be base64`],
  [file(entry(keyed('aescbc', { name: 'a', secret: 'AAAA' }))), `${SECRET}: must be 16, 24 or 32 bytes long, not 3`],
  [
    file(entry(keyed('secretbox', { name: 'a', secret: KEY_16 }))),
    `${PROVIDER}.secretbox.keys[0].secret: must be 32 bytes long, not 16`,
  ],
  [
    file(entry(keyed('aesgcm', { name: 'a', secret: KEY_16 }, { name: 'a', secret: KEY_32 }))),
    `${PROVIDER}.aesgcm.keys[1].name: "a" is the name of another key`,
  ],
  [
    file(entry(keyed('aesgcm', { name: 'a', secret: KEY_16 }), keyed('aesgcm', { name: 'a', secret: KEY_32 }))),
    `resources[0].providers[1].aesgcm: "a" is a provider of secrets already, as ${PROVIDER}.aesgcm`,
  ],
  [
    file(entry({ identity: {} }), entry({ identity: {} })),
    `resources[1].providers[0].identity: is a provider of secrets already, as ${PROVIDER}.identity`,
  ],
  [file(entry({ kms: { endpoint: 'unix:///s' } })), `${PROVIDER}.kms.name: is required`],
  [file(entry({ kms: { name: 'k' } })), `${PROVIDER}.kms.endpoint: is required`],
  [
    file(entry({ kms: { ...KMS, endpoint: 'http://host' } })),
    `${PROVIDER}.kms.endpoint: must be a socket, such as unix:///var/run/kms.sock`,
  ],
  [
    file(entry({ kms: { ...KMS, endpoint: 'unix:///100%kms' } })),
    `${PROVIDER}.kms.endpoint: must be a socket, such as unix:///var/run/kms.sock`,
  ],
  [
    file(entry({ kms: { ...KMS, endpoint: `unix:///${'a'.repeat(107)}` } })),
    `${PROVIDER}.kms.endpoint: must have a path of at most 107 bytes`,
  ],
  [
    file(entry({ kms: { ...KMS, endpoint: 7 } })),
    `${PROVIDER}.kms.endpoint: must be a socket, such as unix:///var/run/kms.sock`,
  ],
  ...[0, -1.5, 1.5, '5', 2 ** 31].map((cachesize): [unknown, string] => [
    file(entry({ kms: { ...KMS, cachesize } })),
    `${PROVIDER}.kms.cachesize: must be a positive integer, or a negative one for no cache`,
  ]),
  ...['-1s', '3601s', 'soon'].map((timeout): [unknown, string] => [
    file(entry({ kms: { ...KMS, timeout } })),
    `${PROVIDER}.kms.timeout: must be a positive duration of at most 1h, such as 3s`,
  ]),
  [
    file(entry({ kms: { ...KMS, timeout: '0s' } })),
    `${PROVIDER}.kms.timeout: must be a positive duration of at most 1h, such as 3s`,
  ],
  [
    file(entry({ kms: { ...KMS, timeout: 3 } })),
    `${PROVIDER}.kms.timeout: must be a positive duration of at most 1h, such as 3s`,
  ],
];

test('what cannot be used is refused with its path, and no secret is told', (t) => {
  for (const [content, message] of REFUSED) {
    t.is(t.throws(() => readEncryptionConfiguration(content, DIALECTS.orch))?.message, message);
  }
});
