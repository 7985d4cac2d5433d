// One thread of the plan as the supervisor sees it: the worker that runs it now, calls into it, and its end. Calls that a
// dying worker leaves open fail with ActorDown instead of waiting for ever.
import { type MessagePort, SHARE_ENV, Worker } from 'node:worker_threads';
import { type Remote, transfer, wrap } from 'comlink';
import { fromErrorFrame } from '../errors.ts';
import { YOUNG_HEAP_MAX_MIB } from '../memory/heap-warning.ts';
import { actorDown } from '../messages/pending-ask.ts';
import { endpoint, type Outcome, type ThreadBirth, type ThreadControl } from './control.ts';

const THREAD_ENTRY = new URL('./thread.js', import.meta.url);

export class WorkerThread {
  readonly name: string;
  /** Settles when the worker has ended, with what ended it when that was an error outside the runtime's reach. */
  readonly exited: Promise<Error | undefined>;
  private readonly worker: Worker;
  private readonly control: Remote<ThreadControl>;
  private readonly open = new Set<(error: Error) => void>();
  private failure: Error | undefined;
  private alive = true;

  /** Starts the worker. It shares the process's environment variables. */
  constructor(birth: ThreadBirth) {
    this.name = birth.plan.threads[birth.thread]!.name;
    this.worker = new Worker(THREAD_ENTRY, {
      name: this.name,
      workerData: birth,
      transferList: birth.links.map(([, port]) => port),
      env: SHARE_ENV,
      // The process's command, behind the thread's own entry.
      argv: process.argv.slice(1),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MAX_MIB },
    });
    this.worker.on('error', (error) => {
      this.failure = error instanceof Error ? error : new Error(String(error));
    });
    this.exited = new Promise((resolve) => {
      this.worker.once('exit', () => {
        this.alive = false;
        for (const fail of this.open) fail(this.failure ?? actorDown(`thread ${this.name}`));
        this.open.clear();
        resolve(this.failure);
      });
    });
    this.control = wrap<ThreadControl>(endpoint(this.worker));
  }

  /** Calls into the thread. Rejects when the thread ends first: with its failure, or ActorDown. */
  call<T>(run: (control: Remote<ThreadControl>) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.alive) {
        reject(actorDown(`thread ${this.name}`));
        return;
      }
      this.open.add(reject);
      run(this.control)
        .then(resolve, reject)
        .finally(() => this.open.delete(reject));
    });
  }

  /** As `call`, for calls that answer an outcome: rejects with the OrchError that it holds. */
  async attempt<T>(run: (control: Remote<ThreadControl>) => Promise<Outcome<T>>): Promise<T> {
    const outcome = await this.call(run);
    if ('error' in outcome) throw fromErrorFrame(outcome.error);
    return outcome.value;
  }

  connect(thread: number, port: MessagePort): Promise<void> {
    return this.call((control) => control.connect(thread, transfer(port, [port])));
  }

  /** Asks the thread to end itself, and waits at most `timeoutMs` for it. False when it did not. */
  async end(timeoutMs: number): Promise<boolean> {
    if (!this.alive) return true;
    this.call((control) => control.end()).catch(() => {}); // The call is never answered.
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, false);
    });
    const ended = await Promise.race([this.exited.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }
}
