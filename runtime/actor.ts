// What an actor is, and what it sees of the others. Types only: mailboxes, links and supervision implement them.
// docs/RUNTIME.md states the guarantees on one page.
import type { Logger } from 'pino';
import type { ActorFacts } from './actor-facts.ts';
import type { Environment } from './environment.ts';
import type { Metrics, MetricsReading } from './metrics/metrics.ts';
import type { Soon } from './soon.ts';

/**
 * The messages one actor understands, as two maps from the message's `type` to its shape. An actor's `protocol.ts`
 * declares one interface that extends this. Messages and replies are plain data: numbers, strings, booleans, null,
 * arrays, plain objects, Uint8Arrays, shared buffers. A property named `payload` (one Uint8Array) is packed with the
 * other payloads of its turn when it crosses a thread: the receiver owns the bytes, the sender must not touch them again.
 */
export interface Protocol {
  /** Answered messages: the message and its reply. */
  readonly asks: Readonly<Record<string, { readonly message: object; readonly reply: unknown }>>;
  /** Messages without an answer. */
  readonly tells: Readonly<Record<string, object>>;
}

export type AskType<P extends Protocol> = keyof P['asks'] & string;
export type TellType<P extends Protocol> = keyof P['tells'] & string;
export type AskMessage<P extends Protocol, T extends AskType<P>> = { readonly type: T } & P['asks'][T]['message'];
export type TellMessage<P extends Protocol, T extends TellType<P>> = { readonly type: T } & P['tells'][T];
export type ReplyTo<P extends Protocol, T extends AskType<P>> = P['asks'][T]['reply'];

/** Every message of the protocol as a discriminated union on `type`. */
export type MessageOf<P extends Protocol> =
  | { [T in AskType<P>]: AskMessage<P, T> }[AskType<P>]
  | { [T in TellType<P>]: TellMessage<P, T> }[TellType<P>];

/** What asks are cancelled by; an AbortSignal is one. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: { handleEvent(): void }): void;
  removeEventListener(type: 'abort', listener: { handleEvent(): void }): void;
}

export interface AskOptions {
  /** Milliseconds until `DeadlineExceeded`. Never optional. */
  readonly deadlineMs: number;
  /** Aborting it fails the ask with `Cancelled`; the handler may still run. */
  readonly signal?: CancelSignal;
  /** The request that the ask is part of (turn.ts); left out: that of the turn in which it is sent. */
  readonly requestNumber?: number;
}

/** Another actor, wherever it is placed. */
export interface Ref<P extends Protocol> {
  /** The logical name, for example `store` or `hub/1`; never a thread id. */
  readonly name: string;
  /** Sends and waits for the answer. Rejects with an OrchError: Overloaded, ActorDown, DeadlineExceeded, Cancelled, Refused. */
  ask<T extends AskType<P>>(message: AskMessage<P, T>, options: AskOptions): Promise<ReplyTo<P, T>>;
  /**
   * The same, with the answer itself where the actor is on this thread, has nothing else to do and answers within its handler:
   * for questions that nearly always have their answer at once. The handler then runs within the caller's turn, so that only
   * actors may be asked that ask nobody so who could be asking them. Never throws: what fails, rejects.
   */
  askSoon<T extends AskType<P>>(message: AskMessage<P, T>, options: AskOptions): Soon<ReplyTo<P, T>>;
  /**
   * Sends without an answer, in order with this sender's other messages to the same actor. `full` means not sent: the
   * mailbox is full, or the actor's thread is gone. `requestNumber` as for asks.
   */
  tell<T extends TellType<P>>(message: TellMessage<P, T>, requestNumber?: number): 'queued' | 'full';
  /**
   * The same, handled within the caller's turn where the actor is on this thread and has nothing else to do: for what is to have
   * had its effect before what the caller does next. Only for actors that may be asked with `askSoon`.
   */
  tellSoon<T extends TellType<P>>(message: TellMessage<P, T>, requestNumber?: number): 'queued' | 'full';
}

/**
 * The asker's end inside a handler. Answer once, now or later; for a tell both are no-ops. An ask holds its place in the
 * mailbox until it is answered, even when the asker has stopped waiting: an ask that is never answered is a leak.
 */
export interface Reply {
  /** False once the asker has stopped waiting, as far as is known here: what is kept for it then is kept for nobody. */
  readonly isAwaited: boolean;
  send(value: unknown): void;
  fail(error: unknown): void;
}

/**
 * A running actor. `onMessage` is called for one message at a time, in the order of arrival, and returns before the
 * next. Answers may be given within the call or later.
 * A throw fails the ask with `Refused` when `reply` was still open, except that a `CrashError` ends the thread.
 */
export interface Actor<P extends Protocol> {
  onMessage(message: MessageOf<P>, reply: Reply): void;
  /**
   * Called once when all actors of all threads exist; refs may be used from here on. Resolves when ready to serve:
   * messages wait in the mailbox until then. A rejection fails the thread's start.
   */
  start?(): Promise<void>;
  /** Whether what `start` has begun is done, for who waits for the server to be as it is to be. Absent: it is. */
  hasSettled?(): boolean;
  /** The end of the server has been announced: `stop` will follow, perhaps much later. On a new thread, before `start`. */
  drain?(): void;
  /**
   * Called at shutdown, in the order of `stopOrder`: finish what was accepted, then resolve. Messages are still handled
   * meanwhile; afterwards the mailbox is closed and the actor's timers no longer fire.
   */
  stop?(): Promise<void>;
  /**
   * Called when the thread is about to end because something on it broke, without messages: close what must not outlive the
   * thread (sockets), nothing else. The thread waits for a promise, though not for long.
   */
  onCrash?(): void | Promise<void>;
  /** The thread of the actor `name` (`store`, `hub/1`) was replaced: what that actor remembered in memory is gone. */
  peerRestarted?(name: string): void;
}

/**
 * What each actor understands, by its name. Every `protocol.ts` adds its own line (`declare module`), so that whoever asks
 * for a ref gets the right protocol, and an actor that there is not does not compile.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the actors' protocols.
export interface ActorProtocols {}
export type ActorName = keyof ActorProtocols & string;

/** What the runtime hands to an actor when it creates it. */
export interface ActorContext extends Environment {
  /** `store`, or `hub/2` where several instances are placed. */
  readonly name: string;
  /** The instance's number among those of the same actor, from 0. */
  readonly index: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Settings of this actor from the placement file, checked against its defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * A ref to an actor. Where it has several instances: to the one on this thread if there is one, else to one chosen by
   * this instance's index. Refs stay valid across a restart of the other's thread.
   */
  ref<A extends ActorName>(actor: A): Ref<ActorProtocols[A]>;
  /** Refs to all instances of an actor, in order of index. */
  refs<A extends ActorName>(actor: A): readonly Ref<ActorProtocols[A]>[];
  /**
   * The ref of one instance by its full name, such as `hub/1`: for answering a message that carries a name. What it
   * understands is the caller's promise.
   */
  refNamed<P extends Protocol>(name: string): Ref<P>;
  /**
   * A value that the actors of one thread share (such as the mapped slabs): made by the first to ask for it. Only for
   * what is a view of shared memory; everything else goes by message.
   */
  threadLocal<T>(key: string, create: () => T): T;
  /** Whether messages wait for this actor behind the one that it handles. */
  hasWaitingMessages(): boolean;
  /** A number for a request that has come in: its messages and log lines carry it, on whichever thread. */
  nextRequestNumber(): number;
  /** The metrics of all threads, this one's included, for /metrics: of one too busy to answer, those it said last. */
  metricsOfAllThreads(): Promise<readonly MetricsReading[]>;
  /** Says what happened and ends this thread; the supervisor restarts it. For broken invariants only. */
  crash(error: Error): never;
}

/** How an actor is made; listed in actors/actors.ts. */
export interface ActorDefinition<Options> extends ActorFacts {
  /** The one outside resource that each instance owns, and nobody else touches; absent: none. */
  readonly owns?: string;
  create(context: ActorContext, options: Options): Actor<Protocol> | Promise<Actor<Protocol>>;
}
