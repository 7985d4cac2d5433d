// What lies in etcd under one path, from our stored form and back: the original's value (original-values.ts), encrypted as the original
// encrypts it, which binds a value to its whole path.
import type { Dialect } from '../../../config/dialect.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { unreadable } from '../../encryption/sealed-value.ts';
import { isBareSealed, type StoredEncryption } from '../../encryption/stored-encryption.ts';
import { readStoredValue } from '../../forms/stored-value.ts';
import type { OriginalKeys } from './original-keys.ts';
import type { OriginalValues } from './original-values.ts';

export interface OriginalFormsParts {
  readonly dialect: Dialect;
  readonly keys: OriginalKeys;
  readonly values: OriginalValues;
  /** Undefined: values lie there as they are. */
  readonly encryption: StoredEncryption | undefined;
}

export class OriginalForms {
  readonly #parts: OriginalFormsParts;

  constructor(parts: OriginalFormsParts) {
    this.#parts = parts;
  }

  /** The stored form of what lies under a path. Undefined as `OriginalValues.read` has it. Throws, or rejects with, StoreUnusable. */
  read(
    key: string,
    path: string,
    bytes: Uint8Array,
    bornRevision: number,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const read = (plain: Uint8Array): Uint8Array | undefined => {
      try {
        return this.#parts.values.read(key, plain, bornRevision);
      } catch (error) {
        throw unreadable(path, messageOf(error));
      }
    };
    const plain = this.open(key, path, bytes);
    return plain instanceof Promise ? plain.then(read) : read(plain);
  }

  /** What lies under a path of an object in our stored form. */
  write(key: string, path: string, stored: Uint8Array): Uint8Array {
    const value = readStoredValue(key, stored);
    if (value === undefined) throw unreadable(key, 'it does not match its checksum');
    return this.seal(key, path, this.#parts.values.write(key, value));
  }

  /** The value that lies under a path as it is without encryption. `key`: whose providers hold. */
  open(key: string, path: string, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const { encryption, keys } = this.#parts;
    if (encryption !== undefined) return encryption.openBare(keys.providersOf(key), path, bytes);
    if (!this.isSealed(bytes)) return bytes;
    throw unreadable(path, 'it is encrypted, and there is no --encryption-provider-config');
  }

  seal(key: string, path: string, plain: Uint8Array): Uint8Array {
    const { encryption, keys } = this.#parts;
    return encryption?.sealBare(keys.providersOf(key), path, plain) ?? plain;
  }

  /** Resolves when `seal` can be called for a key. */
  async sealable(key: string): Promise<void> {
    const { encryption, keys } = this.#parts;
    await encryption?.readyFor([{ operations: [{ key: keys.providersOf(key) }] }]);
  }

  /** A stored form as a folder or a snapshot has it: encrypted there as well, where its resource is. Rejects with StorageFailed. */
  async sealStored(key: string, stored: Uint8Array): Promise<Uint8Array> {
    const { encryption } = this.#parts;
    if (encryption === undefined) return stored;
    await encryption.readyFor([{ operations: [{ key }] }]);
    return encryption.seal(key, Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength));
  }

  isSealed(bytes: Uint8Array): boolean {
    return isBareSealed(bytes, this.#parts.dialect.encryptionPrefix);
  }

  /** Whether it would be encrypted otherwise now. */
  isStale(key: string, bytes: Uint8Array): boolean {
    const { encryption, keys } = this.#parts;
    return encryption?.isBareStale(keys.providersOf(key), bytes) ?? false;
  }
}
