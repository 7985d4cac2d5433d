// Real schedulers for tests: `orch scheduler` as a child process on free ports, gone when the test is over.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { freePort } from '../../bench/server/free-port.ts';
import { guardProcess } from './process-guard.ts';
import { ORCH } from './program.ts';
import type { Scope } from './server-process.ts';

export class SchedulerProcess {
  readonly port: number;
  readonly plainPort: number;
  readonly #child: ChildProcess;
  output = '';

  constructor(child: ChildProcess, port: number, plainPort: number) {
    this.#child = child;
    this.port = port;
    this.plainPort = plainPort;
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
  }

  get leads(): boolean {
    return this.output.includes('this scheduler leads');
  }

  /**
   * What it serves about itself at a path in plain HTTP. On a connection of its own: where this process stood still, one that it had
   * kept may have been closed.
   */
  async page(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const asked = get({ host: '127.0.0.1', port: this.plainPort, path, agent: false });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: answer.statusCode ?? 0, text: await textOf(answer) };
  }

  /** Answers the exit code, or null when the signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    return child.exitCode;
  }

  /** Resolves with the exit code when it has ended by itself. */
  async exited(): Promise<number | null> {
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
    return child.exitCode;
  }
}

/** One that has just been started; what it prints tells what becomes of it. */
export async function spawnScheduler(scope: Scope, args: readonly string[]): Promise<SchedulerProcess> {
  const [port, plainPort] = [await freePort(), await freePort()];
  const own = ['--secure-port', String(port), '--port', String(plainPort), '--address', '127.0.0.1'];
  const child = spawn(process.execPath, [ORCH, 'scheduler', ...own, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  guardProcess(child, []);
  const scheduler = new SchedulerProcess(child, port, plainPort);
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill);
  scope.teardown(async () => {
    await scheduler.end('SIGKILL');
    process.off('exit', kill);
  });
  return scheduler;
}
