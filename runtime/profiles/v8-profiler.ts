// Takes profiles of the thread that it runs on, by V8's own samplers over the inspector's protocol. One at a time: the
// samplers are the thread's, and two of one kind would end each other. Costs nothing while none is being taken.
import type { HeapProfiler, Profiler as Protocol, Runtime } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import type { Timers } from '../environment.ts';
import { OrchError } from '../errors.ts';
import { sourceOf } from '../packed-sources.ts';
import {
  type ProfileKind,
  type Profiler,
  ProfileTables,
  type ThreadProfile,
  type ThreadTrace,
} from './thread-profile.ts';

const CPU_SAMPLE_US = 1000;
/** One object is sampled in so many allocated bytes, on average. */
const HEAP_SAMPLE_BYTES = 32 * 1024;
/** What the sampler shows that is no work: the thread waited, or the tree has a root. */
const NO_WORK: ReadonlySet<string> = new Set(['(idle)', '(root)']);

export class V8Profiler implements Profiler {
  readonly #thread: string;
  readonly #timers: Timers;
  #isTaking = false;

  constructor(thread: string, timers: Timers) {
    this.#thread = thread;
    this.#timers = timers;
  }

  take(kind: ProfileKind, durationMs: number): Promise<ThreadProfile> {
    return this.#alone(async (session) => {
      if (kind !== 'cpu') return this.#heap(session, kind, durationMs);
      return cpuTables(await this.#cpu(session, durationMs)).of(this.#thread);
    });
  }

  trace(durationMs: number): Promise<ThreadTrace> {
    return this.#alone(async (session) => ({
      thread: this.#thread,
      profile: JSON.stringify(await this.#cpu(session, durationMs)),
    }));
  }

  async #alone<T>(use: (session: Session) => Promise<T>): Promise<T> {
    if (this.#isTaking) throw new OrchError('Refused', 'a profile of this thread is being taken');
    this.#isTaking = true;
    const session = new Session();
    session.connect();
    try {
      return await use(session);
    } finally {
      session.disconnect();
      this.#isTaking = false;
    }
  }

  async #cpu(session: Session, durationMs: number): Promise<Protocol.Profile> {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: CPU_SAMPLE_US });
    await session.post('Profiler.start');
    await this.#wait(durationMs);
    return (await session.post('Profiler.stop')).profile;
  }

  async #heap(session: Session, kind: ProfileKind, durationMs: number): Promise<ThreadProfile> {
    const withGarbage = kind === 'allocs';
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: HEAP_SAMPLE_BYTES,
      includeObjectsCollectedByMajorGC: withGarbage,
      includeObjectsCollectedByMinorGC: withGarbage,
    } as HeapProfiler.StartSamplingParameterType);
    await this.#wait(durationMs);
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return heapTables(profile as HeapProfile).of(this.#thread);
  }

  #wait(durationMs: number): Promise<void> {
    return new Promise((resolve) => void this.#timers.after(durationMs, resolve));
  }
}

function cpuTables({ nodes, samples = [], timeDeltas = [] }: Protocol.Profile): ProfileTables {
  const tables = new ProfileTables();
  const callers = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) callers.set(child, id);
  const calls = new Map<number, number>();
  for (const { id, callFrame } of nodes) {
    const caller = calls.get(callers.get(id) ?? -1) ?? -1;
    calls.set(id, callOf(tables, caller, callFrame));
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
    if (at !== undefined && !NO_WORK.has(callFrame.functionName)) tables.sample(calls.get(id)!, at.count, at.us * 1000);
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
  readonly samples: readonly { readonly nodeId: number }[];
}

function heapTables({ head, samples }: HeapProfile): ProfileTables {
  const tables = new ProfileTables();
  const counts = new Map<number, number>();
  for (const { nodeId } of samples) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  const waiting: (readonly [node: HeapNode, caller: number])[] = [[head, -1]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, caller] = next;
    const call = callOf(tables, caller, node.callFrame);
    if (node.selfSize > 0) tables.sample(call, counts.get(node.id) ?? 0, node.selfSize);
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
