// A key management plugin on a Unix socket: unary gRPC calls of v1beta1.KeyManagementService over HTTP/2. Owns the
// connection, made when first needed and made again when it has broken. What it wraps and unwraps is never logged.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { BackwardWriter, tagOf, WIRE_BYTES, WireReader } from '../../api/codec/wire.ts';
import type { KmsProvider } from '../../config/encryption-configuration.ts';
import type { Timers } from '../../runtime/environment.ts';
import type { KeyService } from './kms-envelope.ts';

const SERVICE = '/v1beta1.KeyManagementService/';
const API_VERSION = 'v1beta1';
const FRAME_HEAD_BYTES = 5;
/** A wrapped key is a few hundred bytes. */
const ANSWER_BYTES_MAX = 256 * 1024;
const GRPC_OK = '0';
/** Of gRPC's status codes, those a plugin that is not one would answer with. */
const CODE_NAMES: Readonly<Record<string, string>> = {
  '2': 'unknown error',
  '3': 'invalid argument',
  '4': 'deadline exceeded',
  '7': 'permission denied',
  '12': 'unimplemented',
  '13': 'internal error',
  '14': 'unavailable',
  '16': 'unauthenticated',
};
const MESSAGE_SHOWN_MAX = 200;

/** Fields of the service's messages. */
const FIELD_VERSION = 1;
const FIELD_INPUT = 2;
const FIELD_OUTPUT = 1;

export class KmsClient implements KeyService {
  readonly #provider: KmsProvider;
  readonly #timers: Timers;
  #session: ClientHttp2Session | undefined;
  /** Settled once the plugin has said that it speaks our version; undefined again when it did not. */
  #versionChecked: Promise<void> | undefined;

  constructor(provider: KmsProvider, timers: Timers) {
    this.#provider = provider;
    this.#timers = timers;
  }

  async encrypt(plain: Uint8Array): Promise<Uint8Array> {
    return this.#transform('Encrypt', plain);
  }

  async decrypt(wrapped: Uint8Array): Promise<Uint8Array> {
    return this.#transform('Decrypt', wrapped);
  }

  close(): void {
    this.#session?.destroy();
    this.#session = undefined;
  }

  async #transform(method: 'Encrypt' | 'Decrypt', input: Uint8Array): Promise<Buffer> {
    await this.#checkVersion();
    const answer = await this.#call(method, request(input));
    try {
      return fieldOf(answer, FIELD_OUTPUT);
    } catch {
      throw this.#failed(method, 'the answer is no message of the service');
    }
  }

  #checkVersion(): Promise<void> {
    this.#versionChecked ??= this.#askVersion().catch((error: unknown) => {
      this.#versionChecked = undefined;
      throw error;
    });
    return this.#versionChecked;
  }

  async #askVersion(): Promise<void> {
    const answer = await this.#call('Version', request());
    const version = fieldOf(answer, FIELD_VERSION).toString('utf8');
    if (version !== API_VERSION) {
      throw this.#failed(
        'Version',
        `it speaks ${JSON.stringify(version.slice(0, MESSAGE_SHOWN_MAX))}, not ${API_VERSION}`,
      );
    }
  }

  /** One unary call. Rejects when there is no answer in time, no connection, or another status than OK. */
  #call(method: string, message: Uint8Array): Promise<Buffer> {
    const { timeoutMs } = this.#provider;
    return new Promise((resolve, reject) => {
      const stream = this.#connected().request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: SERVICE + method,
        [constants.HTTP2_HEADER_SCHEME]: 'http',
        [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
        [constants.HTTP2_HEADER_TE]: 'trailers',
        'grpc-timeout': `${Math.ceil(timeoutMs)}m`,
      });
      const timer = this.#timers.after(timeoutMs, () => {
        fail(`no answer within ${timeoutMs} ms`);
        stream.close(constants.NGHTTP2_CANCEL);
      });
      const fail = (why: string): void => {
        timer.cancel();
        reject(this.#failed(method, why));
      };
      readAnswer(stream, fail, (answer) => {
        timer.cancel();
        resolve(answer);
      });
      stream.end(framed(message));
    });
  }

  #connected(): ClientHttp2Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const { socketPath } = this.#provider;
    const session = connect('http://localhost', { createConnection: () => connectSocket(socketPath) });
    // The calls in progress hear of it, each by its own stream.
    session.on('error', () => {});
    session.on('close', () => {
      if (this.#session === session) this.#session = undefined;
      // Whoever listens there next may be another.
      this.#versionChecked = undefined;
    });
    this.#session = session;
    return session;
  }

  #failed(method: string, why: string): Error {
    return new Error(`the key management service ${this.#provider.name} failed to ${method.toLowerCase()}: ${why}`);
  }
}

/** Gathers a stream's answer: one frame, and a status of OK in the trailers. Calls one of the two back, once. */
function readAnswer(stream: ClientHttp2Stream, fail: (why: string) => void, done: (answer: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let status: Record<string, unknown> = {};
  const noteStatus = (headers: Record<string, unknown>): void => {
    if (headers['grpc-status'] !== undefined) status = headers;
  };
  stream.on('response', (headers) => {
    noteStatus(headers);
    const code = headers[':status'];
    if (code !== 200) fail(`it answers with HTTP status ${code}`);
  });
  stream.on('trailers', noteStatus);
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= ANSWER_BYTES_MAX) {
      chunks.push(chunk);
      return;
    }
    fail(`its answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    stream.close(constants.NGHTTP2_CANCEL);
  });
  stream.on('error', (error) => fail(causeOf(error)));
  stream.on('close', () => {
    const code = String(status['grpc-status'] ?? '');
    if (code !== GRPC_OK) fail(statusText(code, status['grpc-message']));
    const frame = Buffer.concat(chunks);
    const isWhole = frame.length >= FRAME_HEAD_BYTES && frame.length === FRAME_HEAD_BYTES + frame.readUInt32BE(1);
    if (!isWhole || frame[0] !== 0) fail('its answer is not one uncompressed message');
    done(frame.subarray(FRAME_HEAD_BYTES));
  });
}

/** A connection that was refused says so in the error's cause. */
function causeOf(error: Error): string {
  const { code, message } = (error.cause instanceof Error ? error.cause : error) as NodeJS.ErrnoException;
  return code === undefined || code.startsWith('ERR_HTTP2') ? message : code;
}

function statusText(code: string, message: unknown): string {
  if (code === '') return 'the connection ended without an answer';
  const name = CODE_NAMES[code] ?? `status ${code}`;
  if (typeof message !== 'string' || message === '') return name;
  return `${name}: ${JSON.stringify(unescaped(message).slice(0, MESSAGE_SHOWN_MAX))}`;
}

/** gRPC escapes a message as URLs are. */
function unescaped(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(FRAME_HEAD_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, FRAME_HEAD_BYTES);
  return frame;
}

/** A request of any method: our version, and what is to be wrapped or unwrapped. */
function request(input?: Uint8Array): Buffer {
  const writer = new BackwardWriter();
  if (input !== undefined) {
    const from = writer.size;
    writer.bytes(input);
    writer.lengthSince(from, tagOf(FIELD_INPUT, WIRE_BYTES));
  }
  const from = writer.size;
  writer.text(API_VERSION);
  writer.lengthSince(from, tagOf(FIELD_VERSION, WIRE_BYTES));
  return writer.take();
}

/** The bytes of a field; empty when it is absent. Throws DecodeError when the message is none. */
function fieldOf(message: Buffer, field: number): Buffer {
  const reader = new WireReader(message);
  let found = Buffer.alloc(0);
  while (reader.at < reader.end) {
    const tag = reader.varint();
    if (tag === tagOf(field, WIRE_BYTES)) found = Buffer.from(reader.bytes());
    else reader.skip(tag & 7);
  }
  return found;
}
