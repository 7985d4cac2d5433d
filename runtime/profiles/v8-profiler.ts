// Takes profiles of the thread that it runs on, by V8's own samplers over the inspector's protocol. One at a time: the
// samplers are the thread's, and two of one kind would end each other. The heap is followed all the time once that is asked for:
// who holds what cannot be found out afterwards. A thread has one sampler of its heap, so that a profile of all allocations ends
// what was followed, and it begins anew.
import type { HeapProfiler, Profiler as Protocol, Runtime } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import type { Timers } from '../environment.ts';
import { OrchError } from '../errors.ts';
import { sourceOf } from '../packed-sources.ts';
import { unreachable } from '../unreachable.ts';
import {
  type ProfileKind,
  type Profiler,
  ProfileTables,
  type ThreadProfile,
  type ThreadTrace,
} from './thread-profile.ts';

export const CPU_SAMPLE_US = 1000;
/** One object is sampled in so many allocated bytes, on average. */
export const ALLOCS_SAMPLE_BYTES = 32 * 1024;
/** As many as Go takes: what it costs is not to be told from what two servers alike differ by. */
export const HEAP_SAMPLE_BYTES = 512 * 1024;
/** What the sampler shows that is no work: the thread waited, or the tree has a root. */
const NO_WORK: ReadonlySet<string> = new Set(['(idle)', '(root)']);
/** The call that switches V8's sampler on, which takes up to 30 ms of the thread, is within it. */
const OWN_WORK = '#sampleCpu';

export class V8Profiler implements Profiler {
  readonly #thread: string;
  readonly #timers: Timers;
  #isTaking = false;
  /** Ends the time that is waited for, or that will be. */
  #end = new AbortController();
  #following: Session | undefined;

  constructor(thread: string, timers: Timers) {
    this.#thread = thread;
    this.#timers = timers;
  }

  /** From now on it is known who allocated what is held. Profiles of the heap do it themselves, if nobody did. */
  async followHeap(): Promise<Session> {
    if (this.#following !== undefined) return this.#following;
    const session = new Session();
    session.connect();
    this.#following = session;
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_SAMPLE_BYTES });
    return session;
  }

  take(kind: ProfileKind, durationMs: number): Promise<ThreadProfile> {
    return this.#alone(async (session) => (await this.#tables(session, kind, durationMs)).of(this.#thread));
  }

  trace(durationMs: number): Promise<ThreadTrace> {
    return this.#alone(async (session) => ({
      thread: this.#thread,
      profile: JSON.stringify(await this.#sampleCpu(session, durationMs)),
    }));
  }

  end(): void {
    this.#end.abort();
  }

  async collect(): Promise<void> {
    await (await this.followHeap()).post('HeapProfiler.collectGarbage');
  }

  async #tables(session: Session, kind: ProfileKind, durationMs: number): Promise<ProfileTables> {
    switch (kind) {
      case 'cpu':
        return cpuTables(await this.#sampleCpu(session, durationMs));
      case 'heap':
        return this.#held(durationMs);
      case 'allocs':
        return this.#allocated(session, durationMs);
      default:
        return unreachable(kind);
    }
  }

  async #alone<T>(use: (session: Session) => Promise<T>): Promise<T> {
    if (this.#isTaking) throw new OrchError('Refused', 'a profile of this thread is being taken');
    this.#isTaking = true;
    this.#end = new AbortController();
    const session = new Session();
    session.connect();
    try {
      return await use(session);
    } finally {
      session.disconnect();
      this.#isTaking = false;
    }
  }

  async #sampleCpu(session: Session, durationMs: number): Promise<Protocol.Profile> {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: CPU_SAMPLE_US });
    await session.post('Profiler.start');
    await this.#wait(durationMs);
    return (await session.post('Profiler.stop')).profile;
  }

  /** All that is held, or what was allocated in `durationMs` and is still. */
  async #held(durationMs: number): Promise<ProfileTables> {
    const session = await this.followHeap();
    const profile = async (): Promise<HeapProfile> =>
      (await session.post('HeapProfiler.getSamplingProfile')).profile as HeapProfile;
    if (durationMs === 0) return heapTables(await profile(), 0);
    const before = (await profile()).samples.reduce((last, { ordinal }) => Math.max(last, ordinal), 0);
    await this.#wait(durationMs);
    return heapTables(await profile(), before);
  }

  async #allocated(session: Session, durationMs: number): Promise<ProfileTables> {
    const followed = this.#following;
    if (followed !== undefined) {
      await followed.post('HeapProfiler.stopSampling');
      followed.disconnect();
      this.#following = undefined;
    }
    try {
      await session.post('HeapProfiler.startSampling', {
        samplingInterval: ALLOCS_SAMPLE_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      } as HeapProfiler.StartSamplingParameterType);
      await this.#wait(durationMs);
      const { profile } = await session.post('HeapProfiler.stopSampling');
      return heapTables(profile as HeapProfile, 0);
    } finally {
      if (followed !== undefined) await this.followHeap();
    }
  }

  #wait(durationMs: number): Promise<void> {
    const { signal } = this.#end;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = this.#timers.after(durationMs, resolve);
      signal.addEventListener('abort', () => {
        timer.cancel();
        resolve();
      });
    });
  }
}

function cpuTables({ nodes, samples = [], timeDeltas = [] }: Protocol.Profile): ProfileTables {
  const tables = new ProfileTables();
  const callers = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) callers.set(child, id);
  const calls = new Map<number, number>();
  const own = new Set<number>();
  for (const { id, callFrame } of nodes) {
    const callerId = callers.get(id) ?? -1;
    calls.set(id, callOf(tables, calls.get(callerId) ?? -1, callFrame));
    if (own.has(callerId) || callFrame.functionName === OWN_WORK) own.add(id);
  }
  const seen = new Map<number, { count: number; us: number }>();
  for (const [index, node] of samples.entries()) {
    const at = seen.get(node) ?? { count: 0, us: 0 };
    at.count += 1;
    // A delta is what passed before its sample: the first reaches back to the start of the sampler.
    at.us += Math.max(0, timeDeltas[index] ?? 0);
    seen.set(node, at);
  }
  for (const { id, callFrame } of nodes) {
    const at = seen.get(id);
    if (at === undefined || own.has(id) || NO_WORK.has(callFrame.functionName)) continue;
    tables.sample(calls.get(id)!, at.count, at.us * 1000);
  }
  return tables;
}

/** What the types of Node leave out. */
interface HeapNode extends HeapProfiler.SamplingHeapProfileNode {
  readonly id: number;
  readonly children: HeapNode[];
}
interface HeapProfile {
  readonly head: HeapNode;
  /** Samples are numbered in their order, from 1, as long as the sampler is on. A size stands for all that was not sampled. */
  readonly samples: readonly { readonly nodeId: number; readonly size: number; readonly ordinal: number }[];
}

/** Of the samples behind the one whose number is `before`. */
function heapTables({ head, samples }: HeapProfile, before: number): ProfileTables {
  const tables = new ProfileTables();
  const seen = new Map<number, { count: number; bytes: number }>();
  for (const { nodeId, size, ordinal } of samples) {
    if (ordinal <= before) continue;
    const at = seen.get(nodeId) ?? { count: 0, bytes: 0 };
    at.count += 1;
    at.bytes += size;
    seen.set(nodeId, at);
  }
  const waiting: (readonly [node: HeapNode, caller: number])[] = [[head, -1]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, caller] = next;
    const call = callOf(tables, caller, node.callFrame);
    const at = seen.get(node.id);
    if (at !== undefined) tables.sample(call, at.count, at.bytes);
    for (const child of node.children) waiting.push([child, call]);
  }
  return tables;
}

/** A root is nobody's caller. V8 counts lines and columns from 0. */
function callOf(
  tables: ProfileTables,
  caller: number,
  { functionName, url, lineNumber, columnNumber }: Runtime.CallFrame,
): number {
  if (functionName === '(root)') return -1;
  const { file, line } = sourceOf(url, lineNumber + 1, columnNumber + 1) ?? { file: url, line: lineNumber + 1 };
  return tables.call(caller, functionName || '(anonymous)', file, line, line);
}
