// Two threads of a plan: this one, which hosts nothing, and a real worker. Gives refs that cross a thread without the
// supervisor in between.
import { MessageChannel } from 'node:worker_threads';
import type { ActorDefinition, Protocol, Ref } from '../../runtime/actor.ts';
import { createLogger } from '../../runtime/logging/log.ts';
import type { Plan } from '../../runtime/placement/plan.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { heartbeatMemory } from '../../runtime/threads/heartbeat.ts';
import { ThreadHost } from '../../runtime/threads/thread-host.ts';
import { WorkerThread } from '../../runtime/threads/worker-thread.ts';

export interface TwoThreads {
  ref<P extends Protocol>(name: string): Ref<P>;
  readonly worker: WorkerThread;
  /** Puts a new worker in the place of one that has ended. */
  replace(): Promise<void>;
  stop(): Promise<void>;
}

const NEAR = 0;
const FAR = 1;
const LOG = { level: 'silent', format: 'json' } as const;

/** Starts the worker with one instance of each actor; `rosterUrl` is the module that exports a roster of them. */
export async function twoThreads(roster: readonly ActorDefinition<unknown>[], rosterUrl: string): Promise<TwoThreads> {
  const actors = roster.map(({ actor, settings }) => ({ actor, name: actor, index: 0, settings: settings ?? {} }));
  const plan: Plan = {
    name: 'two',
    threads: [
      { name: 'near', group: 'near', actors: [] },
      { name: 'far', group: 'far', actors },
    ],
    warnings: [],
  };
  const near = new ThreadHost<unknown>({
    plan,
    thread: NEAR,
    actors: roster,
    options: {},
    environment: realEnvironment,
    log: createLogger('near', LOG),
    onCrash: (error) => {
      throw error;
    },
  });

  const launch = async (): Promise<WorkerThread> => {
    const { port1, port2 } = new MessageChannel();
    const worker = new WorkerThread({
      plan,
      thread: FAR,
      rosterUrl,
      options: {},
      log: LOG,
      heartbeats: heartbeatMemory(2),
      heartbeatMs: 1000,
      links: [[NEAR, port2]],
    });
    near.connect(FAR, port1);
    await worker.attempt((control) => control.create());
    await worker.attempt((control) => control.start());
    return worker;
  };

  let worker = await launch();
  return {
    ref: <P extends Protocol>(name: string) => near.system.refNamed<P>(name),
    get worker() {
      return worker;
    },
    async replace() {
      worker = await launch();
    },
    async stop() {
      await worker.end(10_000);
      near.system.deadlines.close();
    },
  };
}
