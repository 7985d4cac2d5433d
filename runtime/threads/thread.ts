// The entry of every worker thread: loads the roster, hosts the thread's actors, and ends the thread from within when one
// of them breaks. Run by worker-thread.ts only.

import { parentPort, workerData } from 'node:worker_threads';
import { expose } from 'comlink';
import { toErrorFrame } from '../errors.ts';
import { writeExactIntegers } from '../exact-integers.ts';
import { createLogger, logEnd } from '../logging/log.ts';
import { warningOfFullHeap } from '../memory/heap-warning.ts';
import { collectWhenIdle } from '../memory/idle-collection.ts';
import { V8Profiler } from '../profiles/v8-profiler.ts';
import { realEnvironment } from '../real-environment.ts';
import { endpoint, type Outcome, type ThreadBirth, type ThreadControl } from './control.ts';
import { beat } from './heartbeat.ts';
import type { Roster } from './roster.ts';
import { ThreadHost } from './thread-host.ts';

const birth = workerData as ThreadBirth;
const { name, actors: planned } = birth.plan.threads[birth.thread]!;
const profiler = new V8Profiler(name, realEnvironment.timers);
// Before anything is loaded, for that is in the heap, too.
if (birth.followsHeap === true) void profiler.followHeap();
const log = createLogger(name, birth.log);
const rosterLoading = loadRoster();
rosterLoading.catch(() => {}); // Reported by `create`.
let host: ThreadHost<unknown> | undefined;

/** Ports that came before the roster was loaded. */
const waitingLinks = [...birth.links];

beat(birth.heartbeats, birth.thread, birth.heartbeatMs, realEnvironment.timers);
collectWhenIdle(warningOfFullHeap(log));
writeExactIntegers();
process.on('uncaughtException', (error) => endBroken(error));
process.on('unhandledRejection', (reason) => endBroken(reason instanceof Error ? reason : new Error(String(reason))));

const control: ThreadControl = {
  create: () =>
    outcome(async () => {
      const { facts, actors } = await rosterLoading;
      const { plan, thread, options, measuresWaits = false } = birth;
      const environment = realEnvironment;
      const onCrash = () => process.exit(1);
      host = new ThreadHost({
        plan,
        thread,
        facts,
        actors,
        options,
        environment,
        log,
        measuresWaits,
        profiler,
        onCrash,
      });
      for (const [peer, port] of waitingLinks) host.connect(peer, port);
      await host.system.create();
      return host.system.stopOrders();
    }),
  start: () =>
    outcome(async () => {
      await host?.system.start();
      return null;
    }),
  drain: () => host?.system.drain(),
  stop: async (stopOrder) => host?.system.stop(stopOrder),
  connect(thread, port) {
    if (host === undefined) waitingLinks.push([thread, port]);
    else host.connect(thread, port);
  },
  peerRestarted: (thread) => host?.system.peerRestarted(thread),
  stats: () => host?.system.stats() ?? [],
  hasSettled: () => host?.system.hasSettled() ?? false,
  end() {
    const closed = host?.system.abandon() ?? Promise.resolve();
    void closed.then(() => process.exit(0));
  },
};

expose(control, endpoint(parentPort!));

async function loadRoster() {
  const { roster } = (await import(birth.rosterUrl)) as { readonly roster: Roster<unknown> };
  return { facts: roster.facts, actors: await roster.load(planned.map(({ actor }) => actor)) };
}

async function outcome<T>(run: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await run() };
  } catch (error) {
    log.debug({ err: error }, 'this thread could not start');
    return { error: toErrorFrame(error) };
  }
}

/** Worker.terminate would abort the process when native sockets are open: close them, then exit from here. */
function endBroken(error: Error): void {
  if (host !== undefined) {
    host.system.crash(error);
  } else {
    logEnd(log, error);
    process.exit(1);
  }
}
