// A kubectl that is installed on the machine, pointed at a test's server. Uses nothing of the user's own configuration.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountIn } from '../integration/objects.ts';
import type { ApiObject } from '../server/https-client.ts';
import { hasTool } from '../server/machine-tools.ts';
import type { Scope, ServerProcess } from '../server/server-process.ts';

/** Of one call, and of each wait for a line: far longer than either takes, also beside a busy machine. */
const PATIENCE_MS = 120_000;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl to run. */
export interface Program {
  readonly path: string;
  /** Older than server-side fields in its output, and than several commands. */
  readonly isOlder: boolean;
}

const NEWER_MINOR_MIN = 21;

/** Commands that check what they are given by the server's description of its API. */
const CHECKING: ReadonlySet<string> = new Set(['apply', 'create', 'diff', 'edit', 'explain', 'replace', 'run']);

/** The kubectl on the PATH. Throws, saying what to do, when there is none. */
function installed(): Program {
  return programAt('kubectl');
}

/**
 * The kubectl on the PATH and, when ORCH_KUBECTL_OLD names an older one, that one after it. Where there is none, the tests
 * that are skipped for it are declared once.
 */
export function kubectlPrograms(): readonly Program[] {
  if (!hasTool('kubectl')) return [{ path: 'kubectl', isOlder: false }];
  const { ORCH_KUBECTL_OLD: path = '' } = process.env;
  const first = installed();
  if (path === '') return [first];
  const other = programAt(path);
  return other.isOlder && !first.isOlder ? [first, other] : [first];
}

function programAt(path: string): Program {
  try {
    const told = execFileSync(path, ['version', '--client', '-o', 'json'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const { clientVersion } = JSON.parse(told.toString()) as { clientVersion: { major: string; minor: string } };
    const isOlder = clientVersion.major === '1' && Number.parseInt(clientVersion.minor, 10) < NEWER_MINOR_MIN;
    return { path, isOlder };
  } catch {
    throw new Error(`these tests need kubectl, and ${path} is none (Debian: apt-get install kubernetes-client)`);
  }
}

export class Kubectl {
  readonly isOlder: boolean;
  /** The flag that shows who owns what, where it is hidden without one. */
  readonly showManagedFields: readonly string[];
  readonly #server: ServerProcess;
  readonly #path: string;
  readonly #home: string;
  /** Of the server's description as it was last asked for. */
  #descriptionTag = '';

  constructor(server: ServerProcess, { path, isOlder }: Program = installed()) {
    this.#server = server;
    this.#path = path;
    this.isOlder = isOlder;
    this.showManagedFields = isOlder ? [] : ['--show-managed-fields'];
    this.#home = mkdtempSync(join(tmpdir(), 'orch-kubectl-'));
  }

  dispose(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** Makes a namespace for this kubectl alone, in which pods can be made; answers the arguments that select it. */
  async freshNamespace(name: string): Promise<string[]> {
    const own = this.isOlder ? `${name}-older` : name;
    await this.namespace(own);
    return ['-n', own];
  }

  /** Makes a namespace, and returns when pods can be made in it. */
  async namespace(name: string): Promise<void> {
    await this.made('/api/v1/namespaces', { metadata: { name } });
    await this.accountIn(name);
  }

  /** Returns when pods can be made in a namespace. */
  async accountIn(namespace: string): Promise<void> {
    await accountIn(this.#server.client, namespace);
  }

  /** Creates what a test begins with past kubectl, which takes a hundred times the CPU for it. */
  async made(collection: string, body: object): Promise<ApiObject> {
    const { status, text, json } = await this.#server.client.request('POST', collection, { body });
    if (status !== 201) throw new Error(text);
    return json;
  }

  /** Runs one command, whatever its outcome. `stdin` is what `-f -` reads, `environment` what is set beside the usual. */
  async run(args: readonly string[], stdin = '', environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    if (args.some((arg) => CHECKING.has(arg))) await this.#described();
    return new Promise((resolve) => {
      const child = execFile(
        this.#path,
        this.#arguments(args),
        { env: { ...this.#environment(), ...environment }, timeout: PATIENCE_MS, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
          resolve({ code, stdout, stderr });
        },
      );
      child.stdin?.on('error', () => {}); // Most commands end without reading it.
      child.stdin?.end(stdin);
    });
  }

  /** Returns when the server has made its description: kubectl waits half a minute for it, and a busy machine may take longer. */
  async #described(): Promise<void> {
    const headers = { 'if-none-match': this.#descriptionTag };
    const answer = await this.#server.client.get('/openapi/v2', { headers }).catch(() => undefined);
    this.#descriptionTag = answer?.headers.etag ?? this.#descriptionTag;
  }

  /** The output of a command. Throws when it fails. */
  async ok(args: readonly string[], stdin = '', environment: NodeJS.ProcessEnv = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, stdin, environment);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed (${code}): ${stderr}${stdout}`);
    return stdout;
  }

  /** The error output of a command. Throws when it succeeds. */
  async refused(args: readonly string[], stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, stdin);
    if (code === 0) throw new Error(`kubectl ${args.join(' ')} was to fail, and said: ${stdout}`);
    return stderr;
  }

  /** Returns when the objects are gone. Older ones refuse to wait for what is gone already. */
  async waitUntilGone(args: readonly string[]): Promise<void> {
    const { code, stderr } = await this.run(['wait', '--for=delete', ...args, `--timeout=${PATIENCE_MS / 1000}s`]);
    if (code !== 0 && !stderr.includes('no matching resources found')) throw new Error(stderr);
  }

  async json<T>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.ok([...args, '-o', 'json'])) as T;
  }

  /** Starts a command that goes on, such as `get -w`. */
  follow(scope: Scope, args: readonly string[], environment: NodeJS.ProcessEnv = {}): FollowedOutput {
    const child = spawn(this.#path, this.#arguments(args), { env: { ...this.#environment(), ...environment } });
    scope.teardown(() => void child.kill('SIGKILL'));
    return new FollowedOutput(child);
  }

  #arguments(args: readonly string[]): string[] {
    return ['--kubeconfig', this.#server.kubeconfig, '--cache-dir', join(this.#home, 'cache'), ...args];
  }

  #environment(): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.#home };
  }
}

/** Lines of a process that is still running. */
class FollowedOutput {
  readonly #child: ChildProcess;
  #text = '';
  #errors = '';
  #ended = false;
  #wake = (): void => {};

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#text += text;
      this.#wake();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
      this.#wake();
    });
    child.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** Resolves when the process has ended. */
  async ended(): Promise<void> {
    if (!this.#ended) await once(this.#child, 'close');
  }

  /** Ends the process, whatever it waits for. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }

  /** All lines so far, as soon as one of them matches. Rejects when the process ends or is silent before that. */
  lineMatching(pattern: RegExp): Promise<string[]> {
    return this.#matching(pattern, () => this.#text);
  }

  /** The same for what it complains of. */
  complaintMatching(pattern: RegExp): Promise<string[]> {
    return this.#matching(pattern, () => this.#errors);
  }

  #matching(pattern: RegExp, textSoFar: () => string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${why} before ${pattern}: ${this.#text}${this.#errors}`));
      const patience = setTimeout(() => fail('time ran out'), PATIENCE_MS);
      this.#wake = () => {
        const lines = textSoFar().split('\n').slice(0, -1);
        const found = lines.some((line) => pattern.test(line));
        if (!found && !this.#ended) return;
        clearTimeout(patience);
        if (found) resolve(lines);
        else fail('the output ended');
      };
      this.#wake();
    });
  }
}
