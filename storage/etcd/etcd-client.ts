// An etcd cluster over the network: gRPC as etcd speaks it, on Node's HTTP/2. Talks to one member at a time and to the next
// one after any error that leaves something unknown. Every call has a deadline; a connection that is quiet is asked for a
// sign of life, seldom enough for etcd, which hangs up on who asks more often than every five seconds.

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { DEFAULT_CIPHERS } from 'node:tls';
import type { Timer, Timers } from '../../runtime/environment.ts';
import { atUsualLevel } from '../../values/security-level.ts';
import type { MemberBytes } from '../engines/shared-engine.ts';
import type { EtcdAccess } from './etcd-access.ts';
import {
  type EtcdCluster,
  EtcdError,
  type EtcdStatus,
  type EtcdTransaction,
  type RangeAnswer,
  type RangeRequest,
  type TransactionAnswer,
  type WatchListener,
} from './etcd-cluster.ts';
import {
  compactionBytes,
  credentialBytes,
  emptyBytes,
  leaseBytes,
  rangeBytes,
  readBlob,
  readRange,
  readStatus,
  readToken,
  readTransaction,
  readWatch,
  transactionBytes,
  watchBytes,
} from './etcd-messages.ts';
import {
  errorOfStatus,
  errorOfToken,
  FrameReader,
  failureOf,
  needsNoToken,
  refusedMessage,
  textOfStatus,
} from './etcd-streams.ts';

const CALL_MS_MAX = 3000;
const PING_EVERY_MS = 6000;
const PING_MS_MAX = 3000;
/** Where etcd asks for no names, as long as it does not. */
const NO_TOKEN = '';
const WINDOW_BYTES = 8 * 1024 * 1024;
/**
 * While more than this waits to be sent on a connection, Node ends the calls that are answered on it, which would be taken for the
 * member's fault. Of itself it has 10: ten large writes.
 */
const WAITING_MB_MAX = 128;

export class EtcdClient implements EtcdCluster {
  readonly #access: EtcdAccess;
  readonly #timers: Timers;
  readonly #pinging: Timer;
  #session: ClientHttp2Session | undefined;
  #server = 0;
  #token: string | undefined;
  #signingIn: Promise<void> | undefined;
  #isClosed = false;
  /** Streams that this end has ended: that says nothing against the member. */
  readonly #given = new WeakSet<ClientHttp2Stream>();

  constructor(access: EtcdAccess, timers: Timers) {
    this.#access = access;
    this.#timers = timers;
    this.#pinging = timers.every(PING_EVERY_MS, () => this.#ping());
  }

  async range(request: RangeRequest): Promise<RangeAnswer> {
    return readRange(await this.#call('KV/Range', rangeBytes(request)));
  }

  async transact(transaction: EtcdTransaction): Promise<TransactionAnswer> {
    return readTransaction(await this.#call('KV/Txn', transactionBytes(transaction)));
  }

  async compact(revision: number): Promise<void> {
    await this.#call('KV/Compact', compactionBytes(revision));
  }

  async status(): Promise<EtcdStatus> {
    return readStatus(await this.#call('Maintenance/Status', emptyBytes()));
  }

  async memberBytes(): Promise<MemberBytes> {
    const { servers } = this.#access;
    if (servers.length === 1) return [[servers[0]!, (await this.status()).databaseBytes]];
    const found = await Promise.allSettled(servers.map((server) => this.#bytesOf(server)));
    const known = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const [first] = found;
    if (known.length === 0 && first?.status === 'rejected') throw first.reason;
    return known;
  }

  /** Asked for itself: the others of a cluster do not say. */
  async #bytesOf(server: string): Promise<MemberBytes[number]> {
    const client = new EtcdClient({ ...this.#access, servers: [server] }, this.#timers);
    try {
      return [server, (await client.status()).databaseBytes];
    } finally {
      client.close();
    }
  }

  async grantLease(lease: number, seconds: number): Promise<void> {
    await this.#call('Lease/LeaseGrant', leaseBytes(lease, seconds));
  }

  /** The whole database of a member, a piece at a time. Not asked again: rejects with EtcdError, or what `onPiece` throws. */
  async snapshot(onPiece: (piece: Buffer) => void): Promise<void> {
    await this.#signedIn();
    await new Promise<void>((resolve, reject) => {
      const onMessage = (message: Buffer): void => {
        try {
          onPiece(readBlob(message));
        } catch (error) {
          reject(error);
          stream.close(constants.NGHTTP2_CANCEL);
        }
      };
      const stream = this.#open('Maintenance/Snapshot', new FrameReader(onMessage), reject, resolve);
      stream.end(emptyBytes());
    });
  }

  watch(key: string, end: string, fromRevision: number, listener: WatchListener): () => void {
    let stream: ClientHttp2Stream | undefined;
    let isOver = false;
    const over = (error: EtcdError): void => {
      if (isOver) return;
      isOver = true;
      if (error.kind === 'compacted') this.#giveUp(stream);
      else stream?.close(constants.NGHTTP2_CANCEL);
      listener.onEnd(error);
    };
    const onMessage = (message: Buffer): void => {
      if (isOver) return;
      const { isCanceled, compactRevision, reason, events } = readWatch(message);
      if (events.length > 0) listener.onEvents(events);
      if (compactRevision > 0)
        over(new EtcdError('compacted', 'required revision has been compacted', compactRevision));
      else if (isCanceled) over(new EtcdError('unknown', reason || 'it was canceled'));
    };
    const begin = async (): Promise<void> => {
      await this.#signedIn();
      if (isOver) return;
      stream = this.#open('Watch/Watch', new FrameReader(onMessage), over);
      // It asks for one watch and no more: etcd goes on telling.
      stream.end(watchBytes(key, end, fromRevision));
    };
    begin().catch((error: unknown) =>
      over(error instanceof EtcdError ? error : new EtcdError('unknown', String(error))),
    );
    return () => {
      isOver = true;
      this.#giveUp(stream);
    };
  }

  #giveUp(stream: ClientHttp2Stream | undefined): void {
    if (stream === undefined) return;
    if (!stream.closed) this.#given.add(stream);
    stream.close(constants.NGHTTP2_CANCEL);
  }

  close(): void {
    this.#isClosed = true;
    this.#pinging.cancel();
    this.#session?.destroy();
  }

  /** One message for one. Rejects with EtcdError. */
  async #call(method: string, message: Buffer): Promise<Buffer> {
    const refused = refusedMessage(message);
    if (refused !== undefined) throw refused;
    await this.#signedIn();
    return this.#ask(method, message);
  }

  #ask(method: string, message: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      let stream: ClientHttp2Stream | undefined;
      let isOver = false;
      let session: ClientHttp2Session | undefined;
      const token = this.#token;
      const place = this.#place;
      const over = (error: EtcdError | undefined): void => {
        if (isOver) return;
        isOver = true;
        timer.cancel();
        if (error === undefined && answer !== undefined) resolve(answer);
        else reject(error ?? new EtcdError('unknown', 'there was no answer'));
      };
      const frames = new FrameReader((bytes) => {
        answer = bytes;
      });
      let heardBytes = 0;
      const onSilent = (): void => {
        // A large answer on its way takes what it takes.
        if (frames.heldBytes > heardBytes) {
          heardBytes = frames.heldBytes;
          timer = this.#timers.after(CALL_MS_MAX, onSilent);
          return;
        }
        // Its streams go with it.
        this.#leave(session);
        this.#forget(token);
        over(new EtcdError('unknown', `${place} did not answer within ${CALL_MS_MAX} ms`));
      };
      let timer = this.#timers.after(CALL_MS_MAX, onSilent);
      try {
        stream = this.#open(method, frames, over, () => over(undefined));
        session = this.#session;
        stream.end(message);
      } catch (error) {
        over(new EtcdError('unknown', String(error)));
      }
    });
  }

  /** Opens a stream. `onEnd` hears of an end that is an error; `onDone` of one that is not, else that is one too. */
  #open(
    method: string,
    frames: FrameReader,
    onEnd: (error: EtcdError) => void,
    onDone?: () => void,
  ): ClientHttp2Stream {
    const session = this.#connected();
    // Who has left the member by the end of the stream still says which it was.
    const place = this.#place;
    const token = this.#token;
    const stream = session.request({
      ':method': 'POST',
      ':path': `/etcdserverpb.${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      // A member that has lost its peers says so instead of waiting for them.
      hasleader: 'true',
      ...(token ? { token } : {}),
    });
    let status: string | undefined;
    let text = '';
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers['grpc-status'] === undefined) return;
      status = String(headers['grpc-status']);
      text = textOfStatus(headers['grpc-message']);
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('data', (chunk: Buffer) => frames.push(chunk));
    // Told by the close that follows.
    stream.on('error', (error) => {
      text = failureOf(error);
    });
    stream.on('close', () => {
      if (status === '0' && onDone !== undefined) {
        onDone();
        return;
      }
      const refusal = token === undefined ? undefined : errorOfToken(status, text);
      const error = refusal ?? errorOfStatus(status, text, place);
      if (refusal !== undefined) this.#forget(token);
      else if (error.kind === 'unknown' && !this.#given.has(stream)) this.#leave(session);
      onEnd(error);
    });
    return stream;
  }

  get #place(): string {
    return this.#access.servers[this.#server % this.#access.servers.length]!;
  }

  #connected(): ClientHttp2Session {
    if (this.#isClosed) throw new EtcdError('unknown', 'the client is closed');
    const { ca, certificate, key } = this.#access;
    if (this.#session !== undefined && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const session = connect(this.#place, {
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      maxSessionMemory: WAITING_MB_MAX,
      ciphers: atUsualLevel(DEFAULT_CIPHERS),
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
    });
    // Node says so of a session that was destroyed meanwhile, too: of a member that was given up, or a client that was closed.
    session.on('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(WINDOW_BYTES);
    });
    // Its streams close, and say so themselves.
    session.on('error', () => this.#leave(session));
    session.on('goaway', () => this.#leave(session));
    session.unref();
    this.#session = session;
    return session;
  }

  /**
   * The next call goes to the next member. The connection goes a turn later, when all that was asked for on it has been written: Node may
   * write empty frames without end for a stream that is destroyed before (20.20, seen where members and ways came and went).
   */
  #leave(session: ClientHttp2Session | undefined): void {
    if (session === undefined || session !== this.#session) return;
    this.#session = undefined;
    this.#server++;
    this.#timers.soon(() => session.destroy());
  }

  /** Where there is a name: with a token for it. Rejects with EtcdError. */
  #signedIn(): Promise<void> | undefined {
    if (this.#access.name === undefined || this.#token !== undefined) return undefined;
    this.#signingIn ??= this.#signIn().finally(() => {
      this.#signingIn = undefined;
    });
    return this.#signingIn;
  }

  async #signIn(): Promise<void> {
    const { name = '', password = '' } = this.#access;
    try {
      this.#token = readToken(await this.#ask('Auth/Authenticate', credentialBytes(name, password)));
    } catch (error) {
      if (!(error instanceof EtcdError && needsNoToken(error))) throw error;
      this.#token = NO_TOKEN;
    }
  }

  /**
   * A token that was refused, or not answered: etcd waits with it for the place in its log at which it was given, which one that was
   * restored from a backup may never come to.
   */
  #forget(token: string | undefined): void {
    if (this.#token === token) this.#token = undefined;
  }

  #ping(): void {
    const session = this.#session;
    if (session === undefined || session.connecting || session.destroyed) return;
    const heardBytes = session.socket.bytesRead;
    const timer = this.#timers.after(PING_MS_MAX, () => {
      // Behind much else that is on its way, the answer takes longer.
      if (!session.destroyed && session.socket.bytesRead === heardBytes) this.#leave(session);
    });
    session.ping(() => timer.cancel());
  }
}
