// The processes a bench starts, and that they end: each is known by its id from the moment it starts, and stopping the
// bench stops them all. Nothing else is ever signalled.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadProgress, WatchedServer } from './load-protocol.ts';

const STOP_GRACE_MS = 10_000;

export type BenchProcess =
  | 'load-generator'
  | 'floor-listener'
  | 'floor-engine'
  | 'floor-scan'
  | 'bare-server'
  | 'warden'
  | 'webhook'
  | 'extension';

export class Children {
  readonly #running = new Set<ChildProcess>();
  /** Ends the servers where this process is killed; started with the first. */
  #warden: ChildProcess | undefined;
  #closed = false;

  /** Starts one of the bench's own processes; it ends when its channel closes. */
  fork(name: BenchProcess, args: readonly string[] = []): ChildProcess {
    this.checkOpen();
    return this.#keep(
      fork(fileURLToPath(new URL(`./processes/${name}.js`, import.meta.url)), [...args], {
        stdio: ['ignore', 2, 2, 'ipc'],
      }),
    );
  }

  /** Starts a Node program, a server, whose two outputs are read here. It ends soon after this process, however that ends. */
  spawnNode(args: readonly string[]): ChildProcess {
    this.checkOpen();
    const child = this.#keep(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
    const { pid } = child;
    if (pid === undefined) return child;
    if (this.#warden === undefined) this.#warden = this.fork('warden', [String(pid)]);
    else this.#tellWarden({ pid, isRunning: true });
    child.once('exit', () => this.#tellWarden({ pid, isRunning: false }));
    return child;
  }

  #tellWarden(told: WatchedServer): void {
    // One that has gone is missed only where this process is killed as well.
    if (this.#warden?.connected === true) this.#warden.send(told, () => {});
  }

  /**
   * Sends a process its job and resolves with its one answer; what it tells before goes to `onProgress`. Rejects when it
   * ends before, or takes too long.
   */
  ask<Answer>(
    child: ChildProcess,
    job: object,
    deadlineMs: number,
    onProgress: (told: LoadProgress) => void = () => {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`no answer from a process of the bench within ${deadlineMs} ms`));
        void this.stop(child);
      }, deadlineMs);
      const onExit = (): void => {
        clearTimeout(timer);
        reject(new Error('a process of the bench ended without an answer'));
      };
      // Not 'exit': that may come while the answer still lies in the channel.
      child.once('close', onExit);
      const onMessage = (message: object): void => {
        if ('progress' in message) {
          onProgress(message as LoadProgress);
          return;
        }
        clearTimeout(timer);
        child.off('close', onExit);
        child.off('message', onMessage);
        resolve(message as Answer);
      };
      child.on('message', onMessage);
      child.send(job);
    });
  }

  /** Asks a process to end, and ends it after 10 s. Resolves when it is gone. */
  stop(child: ChildProcess): Promise<void> {
    if (!this.#running.has(child)) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      child.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      child.kill('SIGTERM');
    });
  }

  /** Stops all there are; none can be started any more. */
  async stopAll(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#running].map((child) => this.stop(child)));
  }

  /** Throws once they are being stopped: what works in this process asks now and then. */
  checkOpen(): void {
    if (this.#closed) throw new Error('the bench is ending');
  }

  #keep(child: ChildProcess): ChildProcess {
    this.#running.add(child);
    const forget = (): void => {
      this.#running.delete(child);
    };
    child.once('exit', forget);
    child.once('error', forget);
    return child;
  }
}
