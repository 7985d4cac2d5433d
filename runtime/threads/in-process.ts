// All threads of a plan in the calling thread: one system each, joined by local refs. For tests and the simulation; a
// server runs the same systems on real threads (supervisor.ts).
import type { ActorDefinition, Protocol, Ref } from '../actor.ts';
import type { Environment } from '../environment.ts';
import { writeExactIntegers } from '../exact-integers.ts';
import { createLogger } from '../logging/log.ts';
import type { LogOptions } from '../logging/log-options.ts';
import type { Delivery } from '../messages/delivery.ts';
import { GatheringDelivery } from '../messages/delivery.ts';
import { type AnyRef, LocalRef } from '../messages/local-ref.ts';
import type { MetricsReading } from '../metrics/metrics.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import { type Address, type Plan, planOfOneThread } from '../placement/plan.ts';
import { type ActorStats, System } from './system.ts';

export interface InProcessOptions<Options> {
  readonly actors: readonly ActorDefinition<Options>[];
  /** One thread with one instance of every actor when absent. */
  readonly plan?: Plan;
  readonly options: Options;
  readonly environment: Environment;
  readonly freezeMessages?: boolean;
  readonly delivery?: Delivery;
  /** Silent when absent. */
  readonly log?: LogOptions;
}

/** A running set of actors. */
export interface InProcess {
  /** The ref of one actor by its full name (`store`, `hub/1`), as seen from outside the actors. */
  ref<P extends Protocol>(name: string): Ref<P>;
  /** Stops the actors in ascending stop order, as at shutdown. */
  stop(): Promise<void>;
  /** The error that ended a thread of the plan, by the thread's name. */
  readonly crashes: ReadonlyMap<string, Error>;
  stats(): readonly ActorStats[];
  /** One reading a thread. */
  metrics(): readonly MetricsReading[];
}

/**
 * Makes and starts all actors of the plan; resolves when all are ready to serve. Rejects with what a `create` or
 * `start` threw, after stopping the others.
 */
export async function startInProcess<Options>(setup: InProcessOptions<Options>): Promise<InProcess> {
  writeExactIntegers();
  const plan = setup.plan ?? planOfOneThread(setup.actors);
  const systems: System<Options>[] = [];
  const crashes = new Map<string, Error>();
  const { environment } = setup;
  const delivery = setup.delivery ?? new GatheringDelivery(environment.timers);
  const peers = (from: number) => ({
    ref: (address: Address): AnyRef =>
      new LocalRef(systems[address.thread]!.mailboxes.get(address.id)!, systems[from]!.sender),
  });
  plan.threads.forEach((thread, index) => {
    const system = new System<Options>({
      plan,
      thread: index,
      actors: setup.actors,
      options: setup.options,
      environment,
      log: createLogger(thread.name, setup.log ?? { level: 'silent', format: 'json' }),
      metrics: new MetricsRegistry(),
      peers: peers(index),
      freezeMessages: setup.freezeMessages ?? false,
      delivery,
      onCrash(error) {
        crashes.set(thread.name, error);
        for (const asking of systems) asking.failAsksTo(index);
      },
    });
    systems.push(system);
  });
  const stop = () => stopInOrder(systems);
  try {
    for (const system of systems) await system.create();
    await Promise.all(systems.map((system) => system.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ref: <P extends Protocol>(name: string) => systems[0]!.refNamed<P>(name),
    stop,
    crashes,
    stats: () => systems.flatMap((system) => system.stats()),
    metrics: () => systems.map((system) => system.metricsReading()),
  };
}

async function stopInOrder<Options>(systems: readonly System<Options>[]): Promise<void> {
  const orders = [...new Set(systems.flatMap((system) => system.stopOrders()))].sort((left, right) => left - right);
  for (const order of orders) await Promise.all(systems.map((system) => system.stop(order)));
}
