// A resolved placement: which actor instances run on which threads. Plain data, the same on every thread. Made by
// placement.ts from a file; numbered here so that threads can name an actor by one small number.
import type { Actor, Protocol } from '../actor.ts';
import type { ActorFacts } from '../actor-facts.ts';
import { FlatFormTable } from '../flat-form.ts';

export interface PlannedActor {
  readonly actor: string;
  /** The actor's name, or `hub/1` where several instances are placed. */
  readonly name: string;
  /** The number among the actor's instances, from 0. */
  readonly index: number;
  /** The actor's defaults with the placement's own values over them. */
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

/** Where one instance of an actor is reached. `id` is the same on every thread. */
export interface Address {
  readonly id: number;
  readonly name: string;
  readonly actor: string;
  /** Index into Plan.threads. */
  readonly thread: number;
  readonly mailboxMax: number;
  /** How some of its messages cross threads. */
  readonly flat: FlatFormTable | undefined;
}

/** The runtime's own actor, of which every thread has an instance (thread-actor.ts). */
export const THREAD_ACTOR = 'thread';
const THREAD_MAILBOX_MAX = 64;

/** Every actor of a plan, numbered; the runtime's own actors come last. */
export class AddressBook {
  readonly addresses: readonly Address[];
  private readonly named: ReadonlyMap<string, Address>;

  /** `actors` holds every actor of the plan. */
  constructor(plan: Plan, actors: readonly ActorFacts[]) {
    const known = new Map(
      actors.map(({ actor, mailboxMax, flat }) => [actor, { mailboxMax, flat: flat && new FlatFormTable(flat) }]),
    );
    const placed = plan.threads.flatMap((thread, index) =>
      thread.actors.map(({ name, actor }) => {
        const { mailboxMax, flat } = known.get(actor) ?? { mailboxMax: 1, flat: undefined };
        return { name, actor, thread: index, mailboxMax, flat };
      }),
    );
    const own = plan.threads.map((thread, index) => ({
      name: `${THREAD_ACTOR}:${thread.name}`,
      actor: THREAD_ACTOR,
      thread: index,
      mailboxMax: THREAD_MAILBOX_MAX,
      flat: undefined,
    }));
    this.addresses = [...placed, ...own].map((address, id) => ({ id, ...address }));
    this.named = new Map(this.addresses.map((address) => [address.name, address]));
  }

  byName(name: string): Address | undefined {
    return this.named.get(name);
  }

  /** All instances of an actor, in order of their index. */
  instancesOf(actor: string): readonly Address[] {
    return this.addresses.filter((address) => address.actor === actor);
  }

  /** The runtime's own actor of a thread. */
  ofThread(thread: number): Address {
    return this.addresses[this.addresses.length + thread - this.threadCount]!;
  }

  private get threadCount(): number {
    return this.instancesOf(THREAD_ACTOR).length;
  }
}

/** One thread with one instance of every actor, on their default settings. */
export function planOfOneThread(actors: readonly ActorFacts[]): Plan {
  const planned = actors.map(({ actor, settings }) => ({ actor, name: actor, index: 0, settings: settings ?? {} }));
  return { name: 'single', threads: [{ name: 'all', group: 'all', actors: planned }], warnings: [] };
}

/** The plan without an actor, and without threads that would host nobody. */
export function planWithout(plan: Plan, actor: string): Plan {
  const threads = plan.threads.map((thread) => ({
    ...thread,
    actors: thread.actors.filter((planned) => planned.actor !== actor),
  }));
  return { ...plan, threads: threads.filter(({ actors }) => actors.length > 0) };
}

/** A roster's entry after its actor was made. */
export interface RunningActor {
  readonly planned: PlannedActor;
  readonly facts: ActorFacts;
  readonly actor: Actor<Protocol>;
}
