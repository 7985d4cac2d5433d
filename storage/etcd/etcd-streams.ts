// gRPC on a stream: messages out of chunks, and what its status says of a call.
import { decodePercent } from '../../values/percent.ts';
import { EtcdError, type EtcdErrorKind } from './etcd-cluster.ts';
import { FRAME_HEAD_BYTES } from './etcd-messages.ts';

/** Puts messages together from the chunks in which they arrive. */
export class FrameReader {
  readonly #onMessage: (message: Buffer) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  /** Of a message that is not whole yet. */
  get heldBytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (let length = this.#nextLength(); length !== undefined && this.#bytes >= length; length = this.#nextLength()) {
      const bytes = this.#joined();
      this.#chunks = bytes.length > length ? [bytes.subarray(length)] : [];
      this.#bytes -= length;
      this.#onMessage(bytes.subarray(FRAME_HEAD_BYTES, length));
    }
  }

  /** Of the next frame, with its head; undefined when the head is not there yet. */
  #nextLength(): number | undefined {
    if (this.#bytes < FRAME_HEAD_BYTES) return undefined;
    const first = this.#chunks[0]!.length >= FRAME_HEAD_BYTES ? this.#chunks[0]! : this.#joined();
    return FRAME_HEAD_BYTES + first.readUInt32BE(1);
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}

/** What Go's clients of etcd send at most: no member takes more unless it is told to. */
const SENT_BYTES_MAX = 2 * 1024 * 1024;

/** Why a message in its frame is not sent at all, in the words of Go's clients; undefined: it is. */
export function refusedMessage(framed: Uint8Array): EtcdError | undefined {
  const bytes = framed.byteLength - FRAME_HEAD_BYTES;
  if (bytes <= SENT_BYTES_MAX) return undefined;
  return messageTooLarge(`trying to send message larger than max (${bytes} vs. ${SENT_BYTES_MAX})`);
}

function messageTooLarge(text: string): EtcdError {
  return new EtcdError('tooLarge', `rpc error: code = ResourceExhausted desc = ${text}`);
}

/** What the headers of a stream say of its end: percent-encoded, unless who stands in between wrote it as it is. */
export function textOfStatus(message: unknown): string {
  const text = String(message ?? '');
  return decodePercent(text) ?? text;
}

/** Statuses after which nothing was done; all others leave that open. */
const CERTAIN: Readonly<Record<string, EtcdErrorKind>> = {
  // Too large, too many operations, a key twice.
  3: 'refused',
  7: 'refused',
  12: 'refused',
};
const NO_SPACE = /space exceeded/;
const LEASE_OVER = /requested lease not found/;
const TOO_MANY = /too many operations in txn request/;
const TOO_LARGE = /request is too large/;
/** gRPC's own refusal, which Go's clients show with its status. */
const MESSAGE_TOO_LARGE = /message larger than max/;
const COMPACTED = /has been compacted/;

/**
 * Of who knows a name and a password: the call is done with another token. One that says at which revision of users and roles it was
 * given (JWT) is void with their next change, and there may have been no need for one until now.
 */
const TOKEN_REFUSED = /revision of auth store is old|user name is empty/;
const UNAUTHENTICATED = '16';
const NO_TOKENS = /authentication is not enabled/;

/** What a stream that ended means to who has a token, or none for a while; undefined: what it means to all. Nothing against the member. */
export function errorOfToken(status: string | undefined, text: string): EtcdError | undefined {
  return status === UNAUTHENTICATED || TOKEN_REFUSED.test(text) ? new EtcdError('unknown', text) : undefined;
}

/** Nobody needs a token there. */
export function needsNoToken({ message }: EtcdError): boolean {
  return NO_TOKENS.test(message);
}

/** Why a stream broke off, as the machine or TLS says it; empty where nobody says more than that it did. */
export function failureOf(error: Error & { readonly code?: string }): string {
  const inner: Error & { readonly code?: string; readonly reason?: string } =
    error.cause instanceof Error ? error.cause : error;
  return inner.code?.startsWith('ERR_HTTP2_') ? '' : (inner.reason ?? inner.message);
}

/** What a stream that ended with a gRPC status means; `status` undefined: it broke off without one, `text` says why. */
export function errorOfStatus(status: string | undefined, text: string, place: string): EtcdError {
  if (status === undefined) return new EtcdError('unknown', `${place} did not answer${text && `: ${text}`}`);
  if (COMPACTED.test(text)) return new EtcdError('compacted', text);
  if (LEASE_OVER.test(text)) return new EtcdError('leaseOver', text);
  if (NO_SPACE.test(text)) return new EtcdError('full', text);
  if (TOO_MANY.test(text)) return new EtcdError('tooMany', text);
  if (TOO_LARGE.test(text)) return new EtcdError('tooLarge', text);
  if (MESSAGE_TOO_LARGE.test(text)) return messageTooLarge(text);
  return new EtcdError(CERTAIN[status] ?? 'unknown', text || `${place} answered with gRPC status ${status}`);
}
