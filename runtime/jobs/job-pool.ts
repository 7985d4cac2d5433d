// Long work beside the actors: one pool a thread, made with its first job and kept. A job is a function of some module,
// called by name in the pool's thread with plain data; what it makes comes back whole (`run`) or in pieces (`stream`). Knows
// no job: who wants one names it. The threads and their queue are piscina's.
import { MessageChannel, type Transferable } from 'node:worker_threads';
import type { Piscina, TaskQueue } from 'piscina';
import { OrchError } from '../errors.ts';
import { type JobOutput, receivePieces, type TakePiece } from './job-pieces.ts';

/** A function of a module: `module` is its file's URL, `name` the export. Import it for its type alone. */
export interface PoolJob<Input, Output> {
  readonly module: string;
  readonly name: string;
  /** Never set: holds the types. */
  readonly types?: (input: Input) => Output;
}

/** A job that writes pieces: called with its input and where they go. */
export type PieceJob<Input> = PoolJob<Input, JobOutput>;

export interface JobPool {
  /** False when as many streams are open as may be: then a next one is refused with Overloaded. */
  readonly hasRoom: boolean;
  /** What the job answers. Rejects with what it threw, with Overloaded where nobody took it, or when its thread ended. */
  run<Input, Output>(job: PoolJob<Input, Output>, input: Input): Promise<Output>;
  /**
   * Takes the job's pieces one after another; resolves when it has ended, and touches its input no more. A piece is a view
   * that is valid until what `take` answers resolves; once that is false the job ends early. Rejects as `run`.
   *
   * @param moved buffers of the input that belong to the job from here on.
   */
  stream<Input>(job: PieceJob<Input>, input: Input, take: TakePiece, moved?: readonly Transferable[]): Promise<void>;
  /** Ends the thread, if there is one; jobs under way fail. */
  close(): Promise<void>;
}

/** Streams at once: each holds its slots, a piece, and perhaps a whole object. */
export const STREAMS_MAX = 8;
/** Jobs that run or wait besides. */
export const RUNS_MAX = 64;
/** A thread without work ends after this: it holds some 30 MB. */
const IDLE_MS = 60_000;
/** Of the pool's thread: one that needs more ends, and its jobs fail, rather than the process. */
const HEAP_MIB_MAX = 512;

type LoadPiscina = () => Promise<{ readonly Piscina: typeof Piscina }>;

type Waiting = Parameters<TaskQueue['push']>[0];

/** What waits for the pool's thread, the oldest first: never many. */
class WaitingJobs implements TaskQueue {
  readonly #jobs: Waiting[] = [];

  get size(): number {
    return this.#jobs.length;
  }

  push(job: Waiting): void {
    this.#jobs.push(job);
  }

  shift(): Waiting | null {
    return this.#jobs.shift() ?? null;
  }

  remove(job: Waiting): void {
    const at = this.#jobs.indexOf(job);
    if (at >= 0) this.#jobs.splice(at, 1);
  }

  takeBackLast(): void {
    this.#jobs.pop();
  }
}

/** The library's pool, and what goes with it. */
interface MadePool {
  readonly piscina: Piscina;
  readonly waiting: WaitingJobs;
  /** Its thread did not start: of no more use. */
  isLost: boolean;
}

/** What a pool goes by. */
interface PoolParts {
  /** The module that its thread begins with. */
  readonly thread: string;
  readonly load: LoadPiscina;
  /** Told why no thread was started, once until one does a job again: who asks is told that, and not why. */
  readonly onFailure: (error: unknown) => void;
}

class ThreadJobPool implements JobPool {
  readonly #parts: PoolParts;
  #hasFailed = false;
  #pool: Promise<MadePool> | undefined;
  #runs = 0;
  #streams = 0;

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  get hasRoom(): boolean {
    return this.#streams < STREAMS_MAX;
  }

  async run<Input, Output>(job: PoolJob<Input, Output>, input: Input): Promise<Output> {
    if (this.#runs >= RUNS_MAX) throw overloaded();
    this.#runs++;
    try {
      return (await this.#call(job, input, [])) as Output;
    } finally {
      this.#runs--;
    }
  }

  async stream<Input>(
    job: PieceJob<Input>,
    input: Input,
    take: TakePiece,
    moved: readonly Transferable[] = [],
  ): Promise<void> {
    if (!this.hasRoom) throw overloaded();
    this.#streams++;
    const { port1: here, port2: there } = new MessageChannel();
    const received = receivePieces(here, take);
    try {
      await this.#call(job, { input, output: there }, [...moved, there]);
      await received.taken();
    } finally {
      this.#streams--;
      here.close();
    }
    received.throwIfFailed();
  }

  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined);
    this.#pool = undefined;
    await pool?.piscina.destroy();
  }

  async #call({ module, name }: NamedJob, input: unknown, moved: readonly Transferable[]): Promise<unknown> {
    this.#pool ??= this.#create();
    const pool = await this.#pool;
    const options = { filename: module, name, transferList: [...moved] };
    try {
      const answered = await answerOf(pool, input, options, this.#fail);
      this.#hasFailed = false;
      return answered;
    } catch (error) {
      throw pool.isLost ? withoutThread() : error;
    }
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#hasFailed) this.#parts.onFailure(error);
    this.#hasFailed = true;
  };

  #create(): Promise<MadePool> {
    const forget = (error: unknown): void => {
      if (this.#pool === made) this.#pool = undefined;
      this.#fail(error);
    };
    const { thread, load } = this.#parts;
    const made = createPool(thread, load, forget);
    // The next job tries again: the system may have been out of descriptors for a moment.
    made.catch(forget);
    return made;
  }
}

/** Throws Overloaded where the system lets no thread be made at all. */
function answerOf(
  { piscina, waiting }: MadePool,
  input: unknown,
  options: RunOptions,
  onFailure: (error: unknown) => void,
): Promise<unknown> {
  try {
    return piscina.run(input, options);
  } catch (error) {
    onFailure(error);
    // The library has the job among those that wait: it would be done some time later, or fail with nobody to hear of it.
    waiting.takeBackLast();
    throw withoutThread();
  }
}

type RunOptions = NonNullable<Parameters<Piscina['run']>[1]>;
type NamedJob = Pick<PoolJob<unknown, unknown>, 'module' | 'name'>;

function overloaded(): OrchError {
  return new OrchError('Overloaded', 'too much long work is under way');
}

function withoutThread(): OrchError {
  return new OrchError('Overloaded', 'no thread could be started for long work');
}

/** @param onLost the pool is of no more use: its thread does not start. */
async function createPool(thread: string, load: LoadPiscina, onLost: (error: unknown) => void): Promise<MadePool> {
  const { Piscina } = await load();
  const waiting = new WaitingJobs();
  const piscina = new Piscina({
    filename: thread,
    taskQueue: waiting,
    minThreads: 0,
    maxThreads: 1,
    // They take turns: a client that reads slowly holds up nobody else's job.
    concurrentTasksPerWorker: STREAMS_MAX + RUNS_MAX,
    idleTimeout: IDLE_MS,
    // Waiting on an event loop, and not in Atomics.wait: what an idle thread holds is collected.
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
  });
  // What ended a thread without a job is nobody's failure; the next job gets another thread. But one that did not even start has
  // taken none of the jobs that wait for it, and nobody else does: they fail.
  const made: MadePool = { piscina, waiting, isLost: false };
  piscina.on('error', (error) => {
    if (piscina.queueSize === 0 || piscina.threads.length > 0) return;
    made.isLost = true;
    onLost(error);
    piscina.destroy().catch(() => {});
  });
  return made;
}

/** A pool of the calling thread. Costs nothing until its first job. */
export function createJobPool({
  thread = new URL('./job-thread.js', import.meta.url).href,
  load = () => import('piscina'),
  onFailure = () => {},
}: Partial<PoolParts> = {}): JobPool {
  return new ThreadJobPool({ thread, load, onFailure });
}

/** A pool that takes no job: for a simulation, whose every step is the seed's. */
export const NO_JOB_POOL: JobPool = {
  hasRoom: false,
  run: () => Promise.reject(new OrchError('Overloaded', 'there is no pool')),
  stream: () => Promise.reject(new OrchError('Overloaded', 'there is no pool')),
  close: () => Promise.resolve(),
};
