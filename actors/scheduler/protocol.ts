// What the scheduler understands: the store's feed, and questions: how it is doing, and what it would say about a pod.
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Protocol } from '../../runtime/actor.ts';
import type { StoreFeedTells } from '../store/protocol.ts';
import type { WhatIf } from './driver/what-if.ts';

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

/** Why there is no answer: the scheduler does not know the cluster yet, or has no profile for the pod. */
export type WhatIfReply =
  | { readonly refused: undefined; readonly answer: WhatIf }
  | { readonly refused: 'behind' }
  | { readonly refused: 'noProfile' };

export interface SchedulerProtocol extends Protocol {
  readonly asks: {
    readonly status: { readonly message: Record<never, never>; readonly reply: SchedulerStatus };
    /** What it would say about a pod now. At most so many nodes are named. */
    readonly whatIf: {
      readonly message: { readonly pod: JsonObject; readonly nodesMax: number };
      readonly reply: WhatIfReply;
    };
  };
  readonly tells: StoreFeedTells & {
    /** Where several servers share a store: whether this one schedules. */
    readonly lead: { readonly leads: boolean };
  };
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly scheduler: SchedulerProtocol;
  }
}
