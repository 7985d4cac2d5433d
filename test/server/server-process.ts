// Real servers for tests: `orch up` as a child process on a free port with a data directory of its own, both gone when the
// test is over. Nothing here is part of a server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/server/free-port.ts';
import { HttpsClient } from './https-client.ts';
import { guardProcess } from './process-guard.ts';
import { ORCH } from './program.ts';

const READY = /^ready in \d+ ms$/m;
const STOP_PATIENCE_MS = 120_000;
/** Of this process, at once. */
const STARTS_MAX = 3;
let starting = 0;
/** Each takes over the turn of a start that is done. */
const waiting: (() => void)[] = [];

/** What ends a server: the test's `t`, or a file's list of things to do at the end. */
export interface Scope {
  teardown(undo: () => void | Promise<void>): void;
}

export interface ServerSettings {
  /**
   * Where the actors run; `single` where nothing is said, here or among the arguments: what a server answers does not depend on
   * it, and it starts for two thirds of the CPU. Tests of watches, crashes and load say `default`, as operators get it.
   */
  readonly placement?: 'default' | 'single' | 'wide';
  /** Further arguments of the command. */
  readonly args?: readonly string[];
  /** A program that takes the same arguments, in place of orch. */
  readonly program?: string;
  readonly command?: 'up' | 'apiserver';
  /** Beside this process's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a process that was to be a server ended without becoming one. */
export interface FailedStart {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class ServerProcess {
  readonly dataDirectory: string;
  readonly port: number;
  readonly #settings: ServerSettings;
  #child: ChildProcess | undefined;
  #client: HttpsClient | undefined;
  #stdout = '';
  #stderr = '';

  constructor(dataDirectory: string, port: number, settings: ServerSettings) {
    this.dataDirectory = dataDirectory;
    this.port = port;
    this.#settings = settings;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get token(): string {
    return readFileSync(join(this.dataDirectory, 'admin.token'), 'utf8').trim();
  }

  /** As the kubeconfig says. */
  get caPem(): string {
    const encoded = /certificate-authority-data: (\S+)/.exec(readFileSync(this.kubeconfig, 'utf8'))?.[1] ?? '';
    return Buffer.from(encoded, 'base64').toString('utf8');
  }

  get kubeconfig(): string {
    return join(this.dataDirectory, 'admin.conf');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** The signal that ended the process, if one did. */
  get endedBy(): NodeJS.Signals | null {
    return this.#child?.signalCode ?? null;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && isRunning(this.#child);
  }

  /** What the last start has printed. */
  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The admin's client, the same across restarts. */
  get client(): HttpsClient {
    this.#client ??= new HttpsClient(this.url, this.caPem, this.token);
    return this.#client;
  }

  /** Starts the process, with arguments besides its own. Undefined when it is ready, else how it ended. */
  async start(more: readonly string[] = []): Promise<FailedStart | undefined> {
    const { program = ORCH, command = 'up', args = [], env = {}, placement = 'single' } = this.#settings;
    const { dataDirectory, port } = this;
    const says = (option: string): boolean => [...args, ...more].some((arg) => arg.startsWith(option));
    const own = ['--data-dir', dataDirectory, '--secure-port', String(port)];
    if (!says('--placement')) own.push('--placement', placement);
    // Its default is a folder of the machine's, in which servers of other tests make pairs for other names.
    if (command === 'apiserver' && !says('--cert-dir')) own.push('--cert-dir', join(dataDirectory, 'pki'));
    const child = spawn(process.execPath, [program, command, ...own, ...args, ...more], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#child = child;
    this.#stdout = '';
    this.#stderr = '';
    endWithThisProcess(child);
    guardProcess(child, [dataDirectory]);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    const ready = new Promise<undefined>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        this.#stdout += text;
        if (READY.test(this.#stdout)) resolve(undefined);
      });
    });
    const failed = once(child, 'close').then(() => this.#ending(child));
    return Promise.race([ready, failed]);
  }

  /** Asks the process to stop, as an operator does. Answers its exit code, or null when a signal ended it. */
  async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number | null> {
    return this.#end(signal);
  }

  /** Ends the process without a chance to do anything. */
  async kill9(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /**
   * Starts again on the same data and port, after `stop` or `kill9`, with arguments besides its own. Throws when it does
   * not become ready.
   */
  async restart(more: readonly string[] = []): Promise<void> {
    requireStarted(await this.start(more));
  }

  /** Resolves when the process has ended by itself. */
  async exited(): Promise<number | null> {
    const child = this.#child;
    if (child !== undefined && isRunning(child)) await once(child, 'close');
    return child?.exitCode ?? null;
  }

  /** Everything of this server, gone. */
  async dispose(): Promise<void> {
    this.#client?.close();
    await this.kill9();
    rmSync(this.dataDirectory, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === undefined) return null;
    if (isRunning(child)) {
      const closed = once(child, 'close');
      child.kill(signal);
      const patience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
      await closed;
      clearTimeout(patience);
    }
    return child.exitCode;
  }

  #ending(child: ChildProcess): FailedStart {
    return { code: child.exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }
}

/**
 * A ready server of this test's own. Throws with what it printed when it does not become ready. The tests of a file begin together:
 * servers that all start at once are ready no sooner, and leave a busy machine no time for the requests of those that are.
 */
export async function startServer(scope: Scope, settings: ServerSettings = {}): Promise<ServerProcess> {
  const server = await newServer(scope, settings);
  if (starting >= STARTS_MAX) await new Promise<void>((resolve) => void waiting.push(resolve));
  else starting++;
  try {
    requireStarted(await server.start());
  } finally {
    const next = waiting.shift();
    if (next === undefined) starting--;
    else next();
  }
  return server;
}

/** A server that has a directory and a port, and is not started. */
export async function newServer(scope: Scope, settings: ServerSettings = {}): Promise<ServerProcess> {
  const server = new ServerProcess(mkdtempSync(join(tmpdir(), 'orch-server-')), await freePort(), settings);
  scope.teardown(() => server.dispose());
  return server;
}

/** The hooks of a test file, as far as a server shared by its tests needs them. */
interface Hooks {
  readonly before: (run: () => Promise<void>) => void;
  readonly after: { readonly always: (run: () => Promise<void>) => void };
}

/** One server for all tests of a file. Answers what gives it, once the tests run. */
export function sharedServer(hooks: Hooks, settings: ServerSettings = {}): () => ServerProcess {
  const undo: (() => void | Promise<void>)[] = [];
  let server: ServerProcess | undefined;
  hooks.before(async () => {
    server = await startServer({ teardown: (step) => undo.push(step) }, settings);
  });
  hooks.after.always(async () => {
    for (const step of undo) await step();
  });
  return () => {
    if (server === undefined) throw new Error('the server of this file was not started');
    return server;
  };
}

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A test run that is cut off leaves no server behind. */
function endWithThisProcess(child: ChildProcess): void {
  children.add(child);
  child.once('close', () => children.delete(child));
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function requireStarted(failure: FailedStart | undefined): void {
  if (failure === undefined) return;
  throw new Error(
    `the server ended with code ${failure.code} before it was ready:\n${failure.stdout}${failure.stderr}`,
  );
}
