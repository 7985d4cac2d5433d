// What the scheduler understands: the store's feed, and a question about how it is doing.
import type { Protocol } from '../../runtime/actor.ts';
import type { StoreFeedTells } from '../store/protocol.ts';

/** Counts as of now. */
export interface SchedulerStatus {
  /** It has read the present state and follows the changes. */
  readonly following: boolean;
  /** Pods that need a node, by queue. */
  readonly active: number;
  readonly backoff: number;
  readonly unschedulable: number;
  /** Decided, with the binding not yet seen. */
  readonly assumed: number;
  /** Pods that occupy a node, the assumed ones included. */
  readonly placed: number;
  readonly nodes: number;
}

export interface SchedulerProtocol extends Protocol {
  readonly asks: {
    readonly status: { readonly message: Record<never, never>; readonly reply: SchedulerStatus };
  };
  readonly tells: StoreFeedTells;
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly scheduler: SchedulerProtocol;
  }
}
