// A resolved placement: which actor instances run on which threads. Plain data, the same on every thread. Made by
// placement.ts from a file; numbered here so that threads can name an actor by one small number.
import type { Actor, ActorKind, Protocol } from './actor.ts';

export interface PlannedActor {
  readonly kind: string;
  /** The kind's name, or `hub/1` where several are placed. */
  readonly name: string;
  /** The number among the instances of its kind, from 0. */
  readonly index: number;
  /** The kind's defaults with the placement's own values over them. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface PlannedThread {
  /** The group's name, or `front/1` where the group has several threads. */
  readonly name: string;
  readonly group: string;
  readonly actors: readonly PlannedActor[];
}

export interface Plan {
  /** The profile's name: its file's name without `placement.` and `.json`. */
  readonly name: string;
  readonly threads: readonly PlannedThread[];
  /** What works, but may not be meant; one line each. */
  readonly warnings: readonly string[];
}

/** A kind as the runtime needs it, whatever its options are. */
export interface KindFacts {
  readonly kind: string;
  readonly mailboxMax: number;
  readonly stopOrder: number;
  readonly settings?: Readonly<Record<string, number | string | boolean>>;
}

/** One actor's place. `id` is the same on every thread. */
export interface Address {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  /** Index into Plan.threads. */
  readonly thread: number;
  readonly mailboxMax: number;
}

/** The kind of the runtime's own actor, of which every thread has one (thread-actor.ts). */
export const THREAD_KIND = 'thread';
const THREAD_MAILBOX_MAX = 64;

/** Every actor of a plan, numbered; the runtime's own actors come last. */
export class AddressBook {
  readonly addresses: readonly Address[];
  private readonly named: ReadonlyMap<string, Address>;

  /** `kinds` holds every kind of the plan. */
  constructor(plan: Plan, kinds: readonly KindFacts[]) {
    const maxima = new Map(kinds.map((kind) => [kind.kind, kind.mailboxMax]));
    const placed = plan.threads.flatMap((thread, index) =>
      thread.actors.map(({ name, kind }) => ({ name, kind, thread: index, mailboxMax: maxima.get(kind) ?? 1 })),
    );
    const own = plan.threads.map((thread, index) => ({
      name: `${THREAD_KIND}:${thread.name}`,
      kind: THREAD_KIND,
      thread: index,
      mailboxMax: THREAD_MAILBOX_MAX,
    }));
    this.addresses = [...placed, ...own].map((address, id) => ({ id, ...address }));
    this.named = new Map(this.addresses.map((address) => [address.name, address]));
  }

  byName(name: string): Address | undefined {
    return this.named.get(name);
  }

  /** All instances of a kind, in order of their index. */
  byKind(kind: string): readonly Address[] {
    return this.addresses.filter((address) => address.kind === kind);
  }

  /** The runtime's own actor of a thread. */
  ofThread(thread: number): Address {
    return this.addresses[this.addresses.length + thread - this.threadCount]!;
  }

  private get threadCount(): number {
    return this.byKind(THREAD_KIND).length;
  }
}

/** One thread with one instance of every kind, on their default settings. */
export function planOfOneThread<Options>(kinds: readonly ActorKind<Options>[]): Plan {
  const actors = kinds.map(({ kind, settings }) => ({ kind, name: kind, index: 0, settings: settings ?? {} }));
  return { name: 'single', threads: [{ name: 'all', group: 'all', actors }], warnings: [] };
}

/** The plan without actors of a kind, and without threads that would host nobody. */
export function planWithout(plan: Plan, kind: string): Plan {
  const threads = plan.threads.map((thread) => ({
    ...thread,
    actors: thread.actors.filter((actor) => actor.kind !== kind),
  }));
  return { ...plan, threads: threads.filter(({ actors }) => actors.length > 0) };
}

/** A roster's entry after its actor was made. */
export interface RunningActor {
  readonly planned: PlannedActor;
  readonly kind: KindFacts;
  readonly actor: Actor<Protocol>;
}
