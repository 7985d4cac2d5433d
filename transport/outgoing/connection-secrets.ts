// What a service outside is shown and believed by: the connections with their certificates, and the Authorization header. What
// is from files is read again from time to time, so that it can be replaced while the server runs. Owns the sockets.
import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { bundleProblem, pairProblem } from '../tls/certificates.ts';
import { isToken, type Pems, type ServiceConnection } from './connection-file.ts';
import { throughWay } from './egress.ts';
import { retire } from './idle-connections.ts';

const IDLE_SOCKETS_MAX = 64;
const SOCKETS_MAX = 256;
const READ_AGAIN_MS = 10_000;

/** Why a token file cannot be used. */
export class NoToken extends Error {}

export interface ConnectionSecretsParts {
  readonly connection: ServiceConnection;
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly nowMs: () => number;
  /** Told once of a file that was replaced by one of no use; what was there before still counts. */
  readonly onRefused: (problem: string) => void;
}

/** What goes with one call. */
export interface CallSecrets {
  readonly agent: PlainAgent | TlsAgent;
  /** Blank for none. */
  readonly authorization: string;
}

export class ConnectionSecrets {
  readonly #parts: ConnectionSecretsParts;
  #pems: Pems;
  #agent: PlainAgent | TlsAgent;
  #token = '';
  #refused = '';
  #readMs: number;
  #reading: Promise<void> | undefined;

  constructor(parts: ConnectionSecretsParts) {
    this.#parts = parts;
    this.#pems = parts.connection;
    this.#agent = agentFor(parts.connection, this.#pems);
    this.#readMs = parts.nowMs();
  }

  /** As the files have it by now. Rejects with NoToken where the token file has never been of use. */
  async current(): Promise<CallSecrets> {
    const { connection, nowMs } = this.#parts;
    const { credentials } = connection;
    const isDue = nowMs() - this.#readMs > READ_AGAIN_MS;
    if (isDue || (credentials.kind === 'tokenFile' && this.#token === '')) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return { agent: this.#agent, authorization: this.#authorization() };
  }

  /** Ends every connection. */
  close(): void {
    this.#agent.destroy();
  }

  /** Keeps no connection any more: what is under way ends by itself. */
  retire(): void {
    retire(this.#agent);
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
      return;
    }
    if (this.#token === '') throw new NoToken('the token file cannot be used');
    this.#refuse(`${path} holds no token`);
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
    if (next === undefined) return this.#refuse(`${paths} cannot be read`);
    const problem =
      (ca === '' ? undefined : bundleProblem(next.caPem)) ?? (cert + key === '' ? undefined : pairProblem(next));
    if (problem !== undefined) return this.#refuse(`${paths} cannot be used: ${problem}`);
    this.#refused = '';
    if (next.caPem === this.#pems.caPem && next.certPem === this.#pems.certPem && next.keyPem === this.#pems.keyPem)
      return;
    retire(this.#agent);
    this.#pems = next;
    this.#agent = agentFor(this.#parts.connection, next);
  }

  #refuse(problem: string): void {
    if (this.#refused === problem) return;
    this.#refused = problem;
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

/** All connections of one agent are made alike: where they lead tells them apart, and the name is short. */
class OneServiceAgent extends TlsAgent {
  override getName({ host, port }: AgentPlace = {}): string {
    return `${host ?? ''}:${port ?? ''}`;
  }
}

type AgentPlace = NonNullable<Parameters<TlsAgent['getName']>[0]>;

function agentFor(
  { url, insecure, serverName, way }: ServiceConnection,
  { caPem, certPem, keyPem }: Pems,
): PlainAgent | TlsAgent {
  const limits = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX, maxSockets: SOCKETS_MAX };
  if (!url.startsWith('https:')) return throughWay(new PlainAgent(limits), way);
  const agent = new OneServiceAgent({
    ...limits,
    rejectUnauthorized: !insecure,
    ...(caPem === '' ? {} : { ca: caPem }),
    ...(certPem === '' ? {} : { cert: certPem, key: keyPem }),
    ...(serverName === '' ? {} : { servername: serverName }),
  });
  return throughWay(agent, way);
}

const NO_FILES = { ca: '', cert: '', key: '' };
