// Which resources are encrypted on disk, by which providers: the first writes, all of them read what begins with their
// prefix. Turns stored forms into what goes to disk and back. Memory holds values as they are.
import type { EncryptionProvider, KmsProvider, ResourceEncryption } from '../../config/encryption-configuration.ts';
import { messageOf } from '../../runtime/errors.ts';
import { storageKeyOf } from '../object-key.ts';
import { IDENTITY, KEYED_CIPHERS, type RandomBytes, type ValueCipher } from './ciphers.ts';
import type { EncryptionMeasures, TransformationType } from './encryption-measures.ts';
import { type KeyService, KmsEnvelope } from './kms-envelope.ts';
import { isSealedValue, noProvider, sealedBody, unreadable, writeSealedValue } from './sealed-value.ts';
import { NOT_CONFIGURED, toldOfMissing, toldOfUnopened } from './told-failures.ts';

/** What encryption needs of the world. */
export interface EncryptionParts {
  readonly freshBytes: RandomBytes;
  readonly monotonicMs: () => number;
  readonly keyService: (provider: KmsProvider) => KeyService;
  /** `orch:enc:`, what every prefix begins with. */
  readonly prefix: string;
  /** `<group>/<plural>` of a resource as the configuration names it. */
  readonly storageKeyOf: (resource: string) => string;
  /** Undefined: nobody wants to know. */
  readonly measures: EncryptionMeasures | undefined;
}

/** One cipher and its prefix as bytes. */
interface Reader {
  readonly cipher: ValueCipher;
  readonly prefixBytes: Buffer;
  /** Its provider, in metrics: a prefix without the name of the key. */
  readonly shown: string;
}

/** The providers of one resource, in their order. */
interface KeyRing {
  readonly resource: string;
  readonly readers: Reader[];
}

const KMS_FORM = 'kms:v1:';
/** In metrics, what no provider reads. */
const UNKNOWN = 'unknown';

export class StoredEncryption {
  readonly #rings = new Map<string, KeyRing>();
  readonly #envelopes: KmsEnvelope[] = [];
  readonly #parts: EncryptionParts;

  constructor(entries: readonly ResourceEncryption[], parts: EncryptionParts) {
    this.#parts = parts;
    for (const { resources, providers } of entries) {
      const readers = providers.flatMap((provider) => this.#readersOf(provider));
      for (const resource of new Set(resources)) {
        const key = parts.storageKeyOf(resource);
        const ring = this.#rings.get(key);
        if (ring === undefined) this.#rings.set(key, { resource, readers: [...readers] });
        else ring.readers.push(...readers);
      }
    }
  }

  /** The services asked for data keys, in the order of the configuration. */
  get envelopes(): readonly KmsEnvelope[] {
    return this.#envelopes;
  }

  /** What goes to disk in the place of a stored form: the form itself where its resource is not encrypted. */
  seal(key: string, stored: Buffer): Buffer {
    const writer = this.#ringOf(key)?.readers[0];
    if (writer === undefined) return stored;
    const beganMs = this.#parts.monotonicMs();
    let isGood = false;
    try {
      const { cipher, prefixBytes } = writer;
      const sealed =
        cipher === IDENTITY ? stored : writeSealedValue(key, stored, prefixBytes, cipher.seal(stored, key));
      isGood = true;
      return sealed;
    } finally {
      this.#transformed('to_storage', writer.shown, beganMs, isGood);
    }
  }

  /** Undefined when everything transactions write can be sealed now; else resolves when more can, or rejects StorageFailed. */
  readyFor(
    transactions: readonly { readonly operations: readonly { readonly key: string }[] }[],
  ): Promise<void> | undefined {
    if (this.#envelopes.length === 0) return undefined;
    for (const { operations } of transactions) {
      for (const { key } of operations) {
        const writer = this.#ringOf(key)?.readers[0]?.cipher;
        const readiness = writer instanceof KmsEnvelope ? writer.ready() : undefined;
        if (readiness !== undefined) return readiness;
      }
    }
    return undefined;
  }

  /** Whether the first provider would write other than what is on disk. */
  isStale(key: string, bytes: Uint8Array): boolean {
    const ring = this.#ringOf(key);
    if (ring === undefined) return false;
    return readerOf(ring, key, bytes) !== ring.readers[0];
  }

  /**
   * The stored form behind what is on disk. Throws, or rejects with, OrchError StoreUnusable where no provider of the
   * resource can read it; the message names resource and prefix, never data.
   */
  open(key: string, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const ring = this.#ringOf(key);
    if (ring === undefined && !isSealedValue(bytes)) return bytes;
    const reader = ring === undefined ? undefined : readerOf(ring, key, bytes);
    const beganMs = this.#parts.monotonicMs();
    const transformed = (isGood: boolean): void =>
      this.#transformed('from_storage', reader?.shown ?? UNKNOWN, beganMs, isGood);
    if (reader === undefined) {
      transformed(false);
      throw noReader(ring, key, bytes);
    }
    if (reader.cipher === IDENTITY) {
      transformed(true);
      return bytes;
    }
    const payload = sealedBody(key, bytes)!.subarray(reader.prefixBytes.length);
    const opened = (plain: Uint8Array): Uint8Array => {
      transformed(true);
      return plain;
    };
    const failed = (error: unknown, mayPass = false): never => {
      transformed(false);
      throw notOpened(reader, key, error, mayPass);
    };
    try {
      const plain = reader.cipher.open(payload, key);
      return plain instanceof Promise ? plain.then(opened, (error) => failed(error, true)) : opened(plain);
    } catch (error) {
      return failed(error);
    }
  }

  /**
   * The same for values that are no stored form but another server's: its prefix, and its payload. `context`: what such a value is
   * bound to.
   */
  sealBare(key: string, context: string, plain: Uint8Array): Uint8Array {
    const writer = this.#ringOf(key)?.readers[0];
    if (writer === undefined) return plain;
    const { cipher, prefixBytes, shown } = writer;
    return this.#measured('to_storage', shown, () => {
      return cipher === IDENTITY ? plain : Buffer.concat([prefixBytes, cipher.seal(plain, context)]);
    });
  }

  /** What is behind such a value. Throws, or rejects with, OrchError StoreUnusable. */
  openBare(key: string, context: string, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const ring = this.#ringOf(key);
    const reader = ring === undefined ? undefined : this.#bareReaderOf(ring, bytes);
    if (reader === undefined) {
      if (ring === undefined && !this.#isBareSealed(bytes)) return bytes;
      this.#transformed('from_storage', UNKNOWN, this.#parts.monotonicMs(), false);
      throw unreadable(context, 'no provider of --encryption-provider-config reads it', toldOf(ring, bytes));
    }
    const { cipher, prefixBytes, shown } = reader;
    if (cipher === IDENTITY) return bytes;
    const failed = (error: unknown, mayPass = false): never => {
      throw notOpened(reader, context, error, mayPass);
    };
    try {
      const plain = this.#measured('from_storage', shown, () =>
        cipher.open(bytes.subarray(prefixBytes.length), context),
      );
      return plain instanceof Promise ? plain.catch((error) => failed(error, true)) : plain;
    } catch (error) {
      return failed(error);
    }
  }

  /** Whether the first provider would write such a value otherwise. */
  isBareStale(key: string, bytes: Uint8Array): boolean {
    const ring = this.#ringOf(key);
    return ring !== undefined && this.#bareReaderOf(ring, bytes) !== ring.readers[0];
  }

  close(): void {
    for (const envelope of this.#envelopes) envelope.close();
  }

  #readersOf(provider: EncryptionProvider): Reader[] {
    const { prefix, freshBytes, monotonicMs, keyService, measures } = this.#parts;
    const readerOfCipher = (cipher: ValueCipher, shown: string): Reader => {
      return { cipher, prefixBytes: Buffer.from(cipher.prefix), shown };
    };
    if (provider.kind === 'identity') return [readerOfCipher(IDENTITY, 'identity')];
    if (provider.kind === 'kms') {
      const own = `${prefix}${KMS_FORM}${provider.name}:`;
      const service = keyService(provider);
      const envelope = new KmsEnvelope({ provider, prefix: own, service, freshBytes, monotonicMs, measures });
      this.#envelopes.push(envelope);
      return [readerOfCipher(envelope, own)];
    }
    const { kind, keys } = provider;
    const shown = `${prefix}${kind}:v1:`;
    return keys.map(({ name, secret }) =>
      readerOfCipher({ prefix: `${shown}${name}:`, ...KEYED_CIPHERS[kind](secret, freshBytes) }, shown),
    );
  }

  #isBareSealed(bytes: Uint8Array): boolean {
    return isBareSealed(bytes, this.#parts.prefix);
  }

  #bareReaderOf(ring: KeyRing, bytes: Uint8Array): Reader | undefined {
    if (!this.#isBareSealed(bytes)) return ring.readers.find(({ cipher }) => cipher === IDENTITY);
    return ring.readers.find(({ cipher, prefixBytes }) => cipher !== IDENTITY && beginsWith(bytes, prefixBytes));
  }

  #measured<T>(type: TransformationType, shown: string, work: () => T): T {
    const beganMs = this.#parts.monotonicMs();
    let isGood = false;
    try {
      const done = work();
      isGood = true;
      return done;
    } finally {
      this.#transformed(type, shown, beganMs, isGood);
    }
  }

  #transformed(type: TransformationType, shown: string, beganMs: number, isGood: boolean): void {
    const { measures, monotonicMs } = this.#parts;
    measures?.transformed(type, shown, isGood ? monotonicMs() - beganMs : undefined);
  }

  #ringOf(key: string): KeyRing | undefined {
    if (this.#rings.size === 0) return undefined;
    return this.#rings.get(storageKeyOf(key));
  }
}

/** Whether a value that is no stored form is encrypted. `prefix`: what all prefixes begin with. */
export function isBareSealed(bytes: Uint8Array, prefix: string): boolean {
  return beginsWith(bytes, Buffer.from(prefix));
}

function beginsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, at) => bytes[at] === byte);
}

/** The provider that reads what is on disk; undefined when none of the ring does. */
function readerOf(ring: KeyRing, key: string, bytes: Uint8Array): Reader | undefined {
  if (!isSealedValue(bytes)) return ring.readers.find(({ cipher }) => cipher === IDENTITY);
  const body = sealedBody(key, bytes);
  if (body === undefined) return undefined;
  return ring.readers.find(
    ({ cipher, prefixBytes }) => cipher !== IDENTITY && body.subarray(0, prefixBytes.length).equals(prefixBytes),
  );
}

function noReader(ring: KeyRing | undefined, key: string, bytes: Uint8Array): Error {
  const body = isSealedValue(bytes) ? sealedBody(key, bytes) : bytes;
  const told = toldOf(ring, body ?? bytes);
  if (isSealedValue(bytes)) return noProvider(key, bytes, ring?.resource, told);
  return unreadable(key, `it is not encrypted, and the providers of ${ring?.resource} do not include identity`, told);
}

function toldOf(ring: KeyRing | undefined, body: Uint8Array): string {
  if (ring === undefined) return NOT_CONFIGURED;
  const providers = ring.readers.filter(({ cipher }) => cipher !== IDENTITY).map(({ shown }) => shown);
  return toldOfMissing(providers, body);
}

function notOpened({ cipher, shown }: Reader, whose: string, error: unknown, mayPass: boolean): Error {
  const reason = reasonOf(error);
  return unreadable(whose, `${cipher.prefix} does not decrypt it (${reason})`, toldOfUnopened(shown, reason), mayPass);
}

/** Node says of a wrong key only what its library calls it. */
function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return /bad decrypt|unable to authenticate|wrong final block/i.test(text) ? 'wrong key, or changed bytes' : text;
}
