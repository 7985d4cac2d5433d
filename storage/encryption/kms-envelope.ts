// Envelope encryption: values under data keys, data keys under a key that never leaves a key management service. The
// service is asked once for many values: one data key serves for a bounded number of writes and a bounded time, and the
// next is asked for before they are over, so that a write waits for the service only when it has been away for long.
//
// A payload: u16 (big-endian) length of the wrapped data key, the wrapped data key, AES-CBC under the data key.
import type { KmsProvider } from '../../config/encryption-configuration.ts';
import { messageOf, OrchError } from '../../runtime/errors.ts';
import { KEYED_CIPHERS, type RandomBytes, type ValueCipher } from './ciphers.ts';
import type { EncryptionMeasures } from './encryption-measures.ts';

/** A key management service: wraps and unwraps data keys. */
export interface KeyService {
  encrypt(plain: Uint8Array): Promise<Uint8Array>;
  decrypt(wrapped: Uint8Array): Promise<Uint8Array>;
  close(): void;
}

const DATA_KEY_BYTES = 32;
const LENGTH_BYTES = 2;
const WRAPPED_BYTES_MAX = 0xffff;
/** One data key encrypts about so many values, for at most so long. */
const DATA_KEY_USES_MAX = 1000;
const DATA_KEY_LIFETIME_MS = 3_600_000;
/** From this share of either on, the next is asked for. */
const RENEWAL_SHARE = 0.5;
const RENEWAL_RETRY_MS = 1000;
const PING = Buffer.from('ping');
/** How long it counts that a service answered, as in the original. */
const PROBE_GOOD_MS = 20_000;

/** A look at whether the service answers. */
interface Probe {
  readonly problem: Promise<string>;
  /** It counts until then; without end while it is under way. */
  untilMs: number;
}

interface DataKey {
  /** Length and wrapped key, as payloads begin. */
  readonly head: Buffer;
  readonly cipher: Omit<ValueCipher, 'prefix'>;
  readonly madeMs: number;
  uses: number;
}

export interface EnvelopeParts {
  readonly provider: KmsProvider;
  readonly prefix: string;
  readonly service: KeyService;
  readonly freshBytes: RandomBytes;
  readonly monotonicMs: () => number;
  readonly measures: EncryptionMeasures | undefined;
}

export class KmsEnvelope implements ValueCipher {
  readonly prefix: string;
  readonly #parts: EnvelopeParts;
  /** Ciphers of data keys by their wrapped form, the least recently used first. */
  readonly #opened = new Map<string, Omit<ValueCipher, 'prefix'>>();
  #current: DataKey | undefined;
  #renewal: Promise<void> | undefined;
  #retryMs = 0;
  #probe: Probe | undefined;

  constructor(parts: EnvelopeParts) {
    this.prefix = parts.prefix;
    this.#parts = parts;
  }

  /** Undefined when `seal` can be called now; else resolves when it can. Rejects with OrchError StorageFailed. */
  ready(): Promise<void> | undefined {
    return this.#spent(1) ? this.#renew() : undefined;
  }

  /** Throws when it was not `ready` before. A few values more than were counted on do not matter. */
  seal(plain: Uint8Array, context: string): Uint8Array {
    const key = this.#current;
    if (key === undefined) throw new OrchError('StorageFailed', `there is no data key of ${this.#name} yet`);
    key.uses++;
    if (this.#spent(RENEWAL_SHARE) && this.#parts.monotonicMs() >= this.#retryMs) {
      // Told to whoever finds the present key spent.
      this.#renew().catch(() => {});
    }
    return Buffer.concat([key.head, key.cipher.seal(plain, context)]);
  }

  open(payload: Uint8Array, context: string): Uint8Array | Promise<Uint8Array> {
    const source = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    const end = source.length < LENGTH_BYTES ? 0 : LENGTH_BYTES + source.readUInt16BE(0);
    if (end <= LENGTH_BYTES || end > source.length) throw new Error('the payload is too short');
    const wrapped = source.subarray(LENGTH_BYTES, end);
    const known = this.#remembered(wrapped.toString('latin1'));
    if (known !== undefined) return known.open(source.subarray(end), context);
    return this.#unwrap(wrapped).then((cipher) => {
      const plain = cipher.open(source.subarray(end), context);
      // Not before: what a service that errs once has told is not to be gone by for ever.
      this.#remember(wrapped.toString('latin1'), cipher);
      return plain;
    });
  }

  /**
   * What keeps the service from wrapping and unwrapping; empty when nothing does, or did a moment ago: anybody may ask for the server's
   * health, and must not be able to keep the service busy. Never rejects.
   */
  problem(): Promise<string> {
    const { monotonicMs } = this.#parts;
    if (this.#probe === undefined || monotonicMs() >= this.#probe.untilMs) {
      const probe: Probe = { problem: this.#asked(), untilMs: Number.POSITIVE_INFINITY };
      this.#probe = probe;
      void probe.problem.then((problem) => {
        probe.untilMs = monotonicMs() + (problem === '' ? PROBE_GOOD_MS : 0);
      });
    }
    return this.#probe.problem;
  }

  close(): void {
    this.#parts.service.close();
  }

  /** What comes of asking it. Never rejects. */
  async #asked(): Promise<string> {
    try {
      const { service } = this.#parts;
      const echo = await service.decrypt(await service.encrypt(PING));
      return PING.equals(echo) ? '' : this.#doesNotUnwrap;
    } catch (error) {
      return messageOf(error);
    }
  }

  get #name(): string {
    return `the key management service ${this.#parts.provider.name}`;
  }

  get #doesNotUnwrap(): string {
    return `${this.#name} does not decrypt what it encrypted`;
  }

  /** Whether the present data key has served for a share of its uses or its time. */
  #spent(share: number): boolean {
    const key = this.#current;
    if (key === undefined || key.uses >= DATA_KEY_USES_MAX * share) return true;
    return this.#parts.monotonicMs() - key.madeMs >= DATA_KEY_LIFETIME_MS * share;
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#measuredDataKey().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #measuredDataKey(): Promise<void> {
    const { measures, monotonicMs } = this.#parts;
    const beganMs = monotonicMs();
    let isMade = false;
    try {
      await this.#makeDataKey();
      isMade = true;
    } finally {
      measures?.dataKeyMade(isMade ? monotonicMs() - beganMs : undefined);
    }
  }

  async #makeDataKey(): Promise<void> {
    const { freshBytes, monotonicMs } = this.#parts;
    const secret = freshBytes(DATA_KEY_BYTES);
    const wrapped = await this.#wrap(secret).catch((error: unknown) => {
      this.#retryMs = monotonicMs() + RENEWAL_RETRY_MS;
      throw new OrchError('StorageFailed', messageOf(error));
    });
    const cipher = KEYED_CIPHERS.aescbc(secret, freshBytes);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(wrapped.length);
    this.#remember(Buffer.from(wrapped).toString('latin1'), cipher);
    this.#current = { head: Buffer.concat([length, wrapped]), cipher, madeMs: monotonicMs(), uses: 0 };
  }

  /** Unwrapped again at once: what is written under a key that comes back as another one no start can read. */
  async #wrap(secret: Uint8Array): Promise<Uint8Array> {
    const { service } = this.#parts;
    const wrapped = await service.encrypt(secret);
    if (wrapped.length === 0 || wrapped.length > WRAPPED_BYTES_MAX) {
      throw new Error(`${this.#name} wraps keys in ${wrapped.length} bytes`);
    }
    if (!Buffer.from(secret).equals(await service.decrypt(wrapped))) throw new Error(this.#doesNotUnwrap);
    return wrapped;
  }

  async #unwrap(wrapped: Buffer): Promise<Omit<ValueCipher, 'prefix'>> {
    this.#parts.measures?.dataKeyMissed();
    const secret = await this.#parts.service.decrypt(wrapped);
    if (secret.length !== DATA_KEY_BYTES) throw new Error(`${this.#name} unwraps to a key of ${secret.length} bytes`);
    return KEYED_CIPHERS.aescbc(secret, this.#parts.freshBytes);
  }

  #remembered(wrapped: string): Omit<ValueCipher, 'prefix'> | undefined {
    const cipher = this.#opened.get(wrapped);
    if (cipher === undefined) return undefined;
    this.#opened.delete(wrapped);
    this.#opened.set(wrapped, cipher);
    return cipher;
  }

  #remember(wrapped: string, cipher: Omit<ValueCipher, 'prefix'>): void {
    const { provider, measures } = this.#parts;
    if (provider.cacheSize === 0) return;
    this.#opened.delete(wrapped);
    this.#opened.set(wrapped, cipher);
    if (this.#opened.size > provider.cacheSize) this.#opened.delete(this.#opened.keys().next().value!);
    measures?.dataKeysKept(this.#opened.size / provider.cacheSize);
  }
}
