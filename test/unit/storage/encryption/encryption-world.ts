// Encryption over configurations and stored forms as tests want them.
import { randomBytes } from 'node:crypto';
import type { EncryptionProvider, KeyedKind, ResourceEncryption } from '../../../../config/encryption-configuration.ts';
import type { EncryptionMeasures } from '../../../../storage/encryption/encryption-measures.ts';
import type { KeyService } from '../../../../storage/encryption/kms-envelope.ts';
import { StoredEncryption } from '../../../../storage/encryption/stored-encryption.ts';
import { storedValueBytesMax, writeStoredValue } from '../../../../storage/forms/stored-value.ts';

export const SECRET_KEY = 'core/secrets/default/s';

export function keyed(kind: KeyedKind, name: string, fill: number, bytes = 32): EncryptionProvider {
  return { kind, keys: [{ name, secret: new Uint8Array(bytes).fill(fill) }] };
}

export const KMS: EncryptionProvider = {
  kind: 'kms',
  name: 'k',
  socketPath: '/nowhere',
  cacheSize: 10,
  timeoutMs: 1000,
};

export interface EncryptionSetup {
  readonly service?: KeyService;
  readonly monotonicMs?: () => number;
  /** By its plural in the core group, or by where its objects are kept. */
  readonly resource?: string;
  readonly prefix?: string;
  readonly measures?: EncryptionMeasures;
}

export function encryption(providers: readonly EncryptionProvider[], setup: EncryptionSetup = {}): StoredEncryption {
  const entries: ResourceEncryption[] = [{ resources: [setup.resource ?? 'secrets'], providers }];
  return new StoredEncryption(entries, {
    freshBytes: (count) => randomBytes(count),
    monotonicMs: setup.monotonicMs ?? (() => 0),
    keyService: () => {
      if (setup.service === undefined) throw new Error('there is no key service');
      return setup.service;
    },
    prefix: setup.prefix ?? 'orch:enc:',
    measures: setup.measures,
    storageKeyOf: (resource) => (resource.includes('/') ? resource : `core/${resource}`),
  });
}

/** A stored form as the store makes it, with a text in its object and in its attributes. */
export function storedForm(key: string, text: string, revision = 7): Buffer {
  const opening = '{"kind":"Secret","apiVersion":"v1",';
  const json = Buffer.from(`${opening}"metadata":{"resourceVersion":"7"               },"data":{"text":"${text}"}}`);
  const head = {
    revision,
    bornRevision: 3,
    schemaGeneration: 1,
    revisionOffset: json.indexOf('"7"'),
    itemOffset: opening.length,
  };
  const attributes = `1\0label\0${text}`;
  const target = Buffer.alloc(storedValueBytesMax(attributes, json.length, opening.length));
  return target.subarray(0, writeStoredValue(target, 0, key, head, attributes, json, 'protobuf'));
}
