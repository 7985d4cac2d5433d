// One thread's end of the server: its system of actors and its links to the other threads. The worker entry (thread.ts)
// drives it; tests may host a thread of a plan beside a real worker with it.
import type { MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ActorDefinition } from '../actor.ts';
import type { ActorFacts } from '../actor-facts.ts';
import type { Environment } from '../environment.ts';
import { Link } from '../links/link.ts';
import type { LinkHost } from '../links/link-session.ts';
import { publishMemoryMetrics } from '../metrics/memory-metrics.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { Address, Plan } from '../placement/plan.ts';
import type { Profiler } from '../profiles/thread-profile.ts';
import { V8Profiler } from '../profiles/v8-profiler.ts';
import { System } from './system.ts';

export interface ThreadHostOptions<Options> {
  readonly plan: Plan;
  /** Index into plan.threads. */
  readonly thread: number;
  /** At least those that the plan places on this thread. */
  readonly actors: readonly ActorDefinition<Options>[];
  /** Of every actor of the plan; absent where `actors` are all of them. */
  readonly facts?: readonly ActorFacts[];
  readonly options: Options;
  readonly environment: Environment;
  readonly log: Logger;
  /** Whether mailboxes measure how long messages wait in them. */
  readonly measuresWaits?: boolean;
  /** One of its own where none is given. */
  readonly profiler?: Profiler;
  /** Ends the thread; called once, after the actors' own `onCrash`. */
  readonly onCrash: (error: Error) => void;
}

export class ThreadHost<Options> {
  readonly system: System<Options>;
  private readonly links: readonly Link[];

  constructor(setup: ThreadHostOptions<Options>) {
    const peers = { ref: (address: Address) => this.links[address.thread]!.ref(address) };
    const { timers } = setup.environment;
    const metrics = new MetricsRegistry();
    const { name } = setup.plan.threads[setup.thread]!;
    publishMemoryMetrics(metrics, name);
    const profiler = setup.profiler ?? new V8Profiler(name, timers);
    this.system = new System<Options>({ ...setup, metrics, peers, profiler });
    const host: LinkHost = {
      deadlines: this.system.deadlines,
      log: setup.log,
      mailboxes: this.system.mailboxes,
      formsOf: (actorId) => this.system.formsOf(actorId),
      soon: (callback) => timers.soon(callback),
    };
    this.links = setup.plan.threads.map(() => new Link(host));
  }

  /** Uses `port` for messages to and from another thread, in place of the one before. */
  connect(thread: number, port: MessagePort): void {
    this.links[thread]?.attach(port);
  }
}
