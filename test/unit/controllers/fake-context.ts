// A context for parts of the controllers without the rest of a server: asks are answered by a function.
import { pino } from 'pino';
import type { ActorContext, Protocol, Ref } from '../../../runtime/actor.ts';
import type { Metrics, Series } from '../../../runtime/metrics/metrics.ts';
import type { VirtualTime } from './virtual-time.ts';

const SERIES: Series = { add: () => {}, set: () => {} };

export const NO_METRICS: Metrics = {
  counter: () => SERIES,
  gauge: () => SERIES,
  histogram: () => ({ observe: () => {} }),
  summary: () => ({ observe: () => {}, turn: () => {} }),
  beforeReading: () => {},
  reading: () => [],
  forget: () => {},
};

/** A context whose asks are answered by `asks`, by actor and message type. */
export function fakeContext(
  time: VirtualTime,
  ask: (actor: string, message: { readonly type: string }) => Promise<unknown>,
): ActorContext {
  const refOf = (kind: string) =>
    ({ name: kind, ask: (message: { type: string }) => ask(kind, message), tell: () => 'queued' }) as unknown;
  return {
    name: 'controllers',
    index: 0,
    log: pino({ level: 'silent' }),
    metrics: NO_METRICS,
    settings: {},
    clock: time.clock,
    timers: time.timers,
    random: { next: () => 0.5, uuid: () => '', bytes: (count) => new Uint8Array(count) },
    disk: {
      readFile: () => Promise.reject(new Error('no disk')),
      writeFileAtomic: () => Promise.reject(new Error('no disk')),
      exists: () => Promise.resolve(false),
      makeDirectory: () => Promise.reject(new Error('no disk')),
    },
    ref: <P extends Protocol>(kind: string) => refOf(kind) as Ref<P>,
    refs: <P extends Protocol>(kind: string) => [refOf(kind) as Ref<P>],
    refNamed: <P extends Protocol>(name: string) => refOf(name) as Ref<P>,
    hasWaitingMessages: () => false,
    nextRequestNumber: () => 1,
    threadLocal: (_key, create) => create(),
    metricsOfAllThreads: () => Promise.resolve([]),
    crash: (error) => {
      throw error;
    },
  };
}
