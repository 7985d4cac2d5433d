// How the supervisor talks with its threads: a handful of calls over Comlink on the worker's own port. Messages between
// actors never come this way.
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Endpoint } from 'comlink';
import type { ErrorFrame } from '../errors.ts';
import type { LogOptions } from '../logging/log-options.ts';
import type { Plan } from '../placement/plan.ts';
import type { ActorStats } from './system.ts';

/** What a thread is born with. Plain data and ports. */
export interface ThreadBirth {
  readonly plan: Plan;
  /** Index into plan.threads. */
  readonly thread: number;
  /** A module that exports `roster` (roster.ts). */
  readonly rosterUrl: string;
  /** Handed to every actor of the roster. */
  readonly options: unknown;
  readonly log: LogOptions;
  /** Whether mailboxes measure how long messages wait in them. */
  readonly measuresWaits?: boolean;
  /** Whether it is known from the beginning who allocated what the thread's heap holds. */
  readonly followsHeap?: boolean;
  /** One counter a thread; the thread bumps its own. */
  readonly heartbeats: SharedArrayBuffer;
  readonly heartbeatMs: number;
  /** Channels to the other threads, by index into plan.threads. */
  readonly links: readonly (readonly [thread: number, port: MessagePort])[];
}

/** The outcome of a call that may fail with an error of ours: Comlink alone would lose its code. */
export type Outcome<T> = { readonly value: T } | { readonly error: ErrorFrame };

/** What the supervisor calls in a thread. */
export interface ThreadControl {
  /** Loads the roster and makes the thread's actors; answers their stop orders. */
  create(): Promise<Outcome<readonly number[]>>;
  start(): Promise<Outcome<null>>;
  /** Tells the actors that the server is going to stop. */
  drain(): void;
  /** Stops the actors of one stop order. */
  stop(stopOrder: number): Promise<void>;
  connect(thread: number, port: MessagePort): void;
  peerRestarted(thread: number): void;
  stats(): readonly ActorStats[];
  hasSettled(): boolean;
  /** Ends the thread from within, which is the only safe way for one that hosts native sockets. */
  end(): void;
}

type Listener = Parameters<Endpoint['addEventListener']>[1];

/** A worker, or the worker's port to its parent, as Comlink expects an endpoint. */
export function endpoint(port: MessagePort | Worker): Endpoint {
  const listeners = new Map<Listener, (data: unknown) => void>();
  return {
    postMessage: (message, transfer) => port.postMessage(message, transfer as MessagePort[] | undefined),
    addEventListener(_type, listener) {
      const onMessage = (data: unknown): void => {
        const event = { data } as MessageEvent;
        if (typeof listener === 'function') listener(event);
        else listener.handleEvent(event);
      };
      listeners.set(listener, onMessage);
      port.on('message', onMessage);
    },
    removeEventListener(_type, listener) {
      const onMessage = listeners.get(listener);
      if (onMessage !== undefined) port.off('message', onMessage);
      listeners.delete(listener);
    },
  };
}
