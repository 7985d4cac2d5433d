// What a service outside is shown and believed by: the connections with their certificates, and the Authorization header. What
// is from files is read again from time to time, so that it can be replaced while the server runs. Who makes the connections is
// its caller's to say.
import { bundleProblem, pairProblem } from '../tls/certificates.ts';
import { isToken, type Pems, type ServiceConnection } from './connection-file.ts';
import type { OnDial } from './egress.ts';

const READ_AGAIN_MS = 10_000;

/** Why a token file cannot be used. */
export class NoToken extends Error {}

/**
 * Told of each call: by which method, with which code (undefined: no answer came), and how long it took (undefined: it has only
 * begun to be answered, and goes on).
 */
export type OnCall = (method: string, code: number | undefined, tookMs: number | undefined) => void;

export interface ConnectionSecretsParts {
  readonly connection: ServiceConnection;
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly nowMs: () => number;
  /** Told once of a file that was replaced by one of no use; what was there before still counts. */
  readonly onRefused: (problem: string) => void;
  readonly onCall?: OnCall | undefined;
  readonly onDial?: OnDial | undefined;
  /** Told of each connection to a service whose certificate names it in its subject alone. */
  readonly onNameless?: (() => void) | undefined;
  /** What calls itself so; absent: it says nothing. */
  readonly userAgent?: string | undefined;
}

/** Connections that are all made by the same material. */
export interface Connections {
  /** Ends every one. */
  close(): void;
  /** Keeps none any more: what is under way ends by itself. */
  retire(): void;
}

/** What goes with one call. */
export interface CallSecrets<C extends Connections> {
  readonly connections: C;
  /** Blank for none. */
  readonly authorization: string;
}

export class ConnectionSecrets<C extends Connections> {
  readonly #parts: ConnectionSecretsParts;
  readonly #make: (connection: ServiceConnection, pems: Pems) => C;
  #pems: Pems;
  #connections: C;
  #token = '';
  /** What was told last of the token file and of the certificates, until they can be used again. */
  readonly #refused = { token: '', pems: '' };
  #readMs: number;
  #reading: Promise<void> | undefined;

  constructor(parts: ConnectionSecretsParts, make: (connection: ServiceConnection, pems: Pems) => C) {
    this.#parts = parts;
    this.#make = make;
    this.#pems = parts.connection;
    this.#connections = make(parts.connection, this.#pems);
    this.#readMs = parts.nowMs();
  }

  /** As the files have it by now; a promise where they are due to be read. Rejects with NoToken where the token file has never been of use. */
  current(): CallSecrets<C> | Promise<CallSecrets<C>> {
    const { connection, nowMs } = this.#parts;
    const isDue = nowMs() - this.#readMs > READ_AGAIN_MS;
    if (!isDue && (connection.credentials.kind !== 'tokenFile' || this.#token !== '')) return this.#known();
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading.then(() => this.#known());
  }

  #known(): CallSecrets<C> {
    return { connections: this.#connections, authorization: this.#authorization() };
  }

  /** Ends every connection. */
  close(): void {
    this.#connections.close();
  }

  /** Keeps no connection any more: what is under way ends by itself. */
  retire(): void {
    this.#connections.retire();
  }

  async #read(): Promise<void> {
    const { connection, nowMs } = this.#parts;
    this.#readMs = nowMs();
    if (connection.credentials.kind === 'tokenFile') await this.#readToken(connection.credentials.path);
    await this.#readPems();
  }

  async #readToken(path: string): Promise<void> {
    const token = await this.#textOf(path).then(
      (text) => text.trim(),
      () => '',
    );
    if (isToken(token)) {
      this.#token = token;
      this.#refused.token = '';
      return;
    }
    if (this.#token === '') throw new NoToken('the token file cannot be used');
    this.#refuse('token', `${path} holds no token`);
  }

  async #readPems(): Promise<void> {
    const { ca, cert, key } = this.#parts.connection.files ?? NO_FILES;
    if (ca + cert + key === '') return;
    const paths = [ca, cert, key].filter((path) => path !== '').join(', ');
    const next = await Promise.all([
      ca === '' ? this.#pems.caPem : this.#textOf(ca),
      cert === '' ? this.#pems.certPem : this.#textOf(cert),
      key === '' ? this.#pems.keyPem : this.#textOf(key),
    ]).then(
      ([caPem, certPem, keyPem]): Pems => ({ caPem, certPem, keyPem }),
      () => undefined,
    );
    if (next === undefined) return this.#refuse('pems', `${paths} cannot be read`);
    const problem =
      (ca === '' ? undefined : bundleProblem(next.caPem)) ?? (cert + key === '' ? undefined : pairProblem(next));
    if (problem !== undefined) return this.#refuse('pems', `${paths} cannot be used: ${problem}`);
    this.#refused.pems = '';
    if (next.caPem === this.#pems.caPem && next.certPem === this.#pems.certPem && next.keyPem === this.#pems.keyPem)
      return;
    this.#connections.retire();
    this.#pems = next;
    this.#connections = this.#make(this.#parts.connection, next);
  }

  #refuse(what: 'token' | 'pems', problem: string): void {
    if (this.#refused[what] === problem) return;
    this.#refused[what] = problem;
    this.#parts.onRefused(problem);
  }

  #authorization(): string {
    const { credentials } = this.#parts.connection;
    switch (credentials.kind) {
      case 'none':
        return '';
      case 'token':
        return `Bearer ${credentials.token}`;
      case 'basic':
        return `Basic ${Buffer.from(`${credentials.name}:${credentials.password}`).toString('base64')}`;
      case 'tokenFile':
        return `Bearer ${this.#token}`;
    }
  }

  async #textOf(path: string): Promise<string> {
    return Buffer.from(await this.#parts.readFile(path)).toString('utf8');
  }
}

const NO_FILES = { ca: '', cert: '', key: '' };
