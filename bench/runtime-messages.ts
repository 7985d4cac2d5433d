// What a message between actors costs: on one thread, across threads, and over Comlink for comparison. Prints messages a
// second and CPU seconds per million; the ratios in one run are what counts. `node dist/bench/runtime-messages.js [seconds]`
import { isMainThread, MessageChannel, parentPort, Worker, workerData } from 'node:worker_threads';
import { expose, type Remote, wrap } from 'comlink';
import type { Actor, ActorDefinition, MessageOf, Protocol, Ref, Reply } from '../runtime/actor.ts';
import { createLogger } from '../runtime/logging/log.ts';
import type { Plan } from '../runtime/placement/plan.ts';
import { realEnvironment } from '../runtime/real-environment.ts';
import { endpoint } from '../runtime/threads/control.ts';
import { heartbeatMemory } from '../runtime/threads/heartbeat.ts';
import { startInProcess } from '../runtime/threads/in-process.ts';
import type { Roster } from '../runtime/threads/roster.ts';
import { ThreadHost } from '../runtime/threads/thread-host.ts';
import { WorkerThread } from '../runtime/threads/worker-thread.ts';

interface EchoProtocol extends Protocol {
  readonly asks: {
    readonly echo: { readonly message: { readonly key: string; readonly revision: number }; readonly reply: number };
    readonly store: {
      readonly message: { readonly key: string; readonly payload: Uint8Array };
      readonly reply: number;
    };
  };
  readonly tells: { readonly note: { readonly key: string; readonly revision: number } };
}

class Echo implements Actor<EchoProtocol> {
  onMessage(message: MessageOf<EchoProtocol>, reply: Reply): void {
    if (message.type === 'echo') reply.send(message.revision);
    else if (message.type === 'store') reply.send(message.payload.length);
  }
}

const actors: readonly ActorDefinition<unknown>[] = [
  {
    actor: 'echo',
    mailboxMax: 10_000,
    stopOrder: 1,
    create: () => new Echo() as unknown as Actor<Protocol>,
  },
];

export const roster: Roster<unknown> = { facts: actors, load: () => Promise.resolve(actors) };

interface EchoService {
  echo(message: { readonly key: string; readonly revision: number }): number;
}

const COMLINK_WORKER = 'comlink';
const DEADLINE = { deadlineMs: 60_000 } as const;
const LOG = { level: 'warn', format: 'text' } as const;
const KEY = 'core/configmaps/default/an-object-of-usual-name';
const PAYLOAD = new Uint8Array(1024).fill(7);

type Send = (revision: number) => Promise<unknown>;

/** Keeps `pipelined` messages on the way for `seconds`, after a warm-up, and prints the rate. */
async function measure(title: string, seconds: number, pipelined: number, send: Send): Promise<void> {
  await run(seconds / 4, pipelined, send);
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  const count = await run(seconds, pipelined, send);
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const rate = Math.round(count / elapsedSeconds);
  const cpuSeconds = ((user + system) / 1e6 / count) * 1e6;
  const words = [
    title.padEnd(44),
    `${rate.toLocaleString('en')}/s`.padStart(14),
    `${cpuSeconds.toFixed(2)}`.padStart(8),
  ];
  process.stdout.write(`${words.join('  ')} CPU s per million\n`);
}

async function run(seconds: number, pipelined: number, send: Send): Promise<number> {
  const untilMs = performance.now() + seconds * 1000;
  let sent = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < untilMs) await send(++sent);
  };
  await Promise.all(Array.from({ length: pipelined }, lane));
  return sent;
}

async function benchLocal(seconds: number): Promise<void> {
  const running = await startInProcess({ actors, options: {}, environment: realEnvironment });
  const ref = running.ref<EchoProtocol>('echo');
  const send: Send = (revision) => ref.ask({ type: 'echo', key: KEY, revision }, DEADLINE);
  await measure('local ask, one at a time', seconds, 1, send);
  await measure('local ask, 64 on the way', seconds, 64, send);
  await running.stop();
}

async function startRemote(): Promise<{ ref: Ref<EchoProtocol>; stop(): Promise<unknown> }> {
  const far = { actor: 'echo', name: 'echo', index: 0, settings: {} };
  const plan: Plan = {
    name: 'bench',
    threads: [
      { name: 'near', group: 'near', actors: [] },
      { name: 'far', group: 'far', actors: [far] },
    ],
    warnings: [],
  };
  const host = new ThreadHost<unknown>({
    plan,
    thread: 0,
    actors,
    options: {},
    environment: realEnvironment,
    log: createLogger('near', LOG),
    onCrash: () => process.exit(1),
  });
  const { port1, port2 } = new MessageChannel();
  const worker = new WorkerThread({
    plan,
    thread: 1,
    rosterUrl: import.meta.url,
    options: {},
    log: LOG,
    heartbeats: heartbeatMemory(2),
    heartbeatMs: 1000,
    links: [[0, port2]],
  });
  host.connect(1, port1);
  await worker.attempt((control) => control.create());
  await worker.attempt((control) => control.start());
  return { ref: host.system.refNamed<EchoProtocol>('echo'), stop: () => worker.end(5000) };
}

async function benchRemote(seconds: number): Promise<void> {
  const { ref, stop } = await startRemote();
  const send: Send = (revision) => ref.ask({ type: 'echo', key: KEY, revision }, DEADLINE);
  const sendBytes: Send = () => ref.ask({ type: 'store', key: KEY, payload: PAYLOAD }, DEADLINE);
  const tell: Send = async (revision) => {
    while (ref.tell({ type: 'note', key: KEY, revision }) === 'full') await new Promise(setImmediate);
  };
  for (const pipelined of [1, 64, 512]) await measure(`link ask, ${pipelined} on the way`, seconds, pipelined, send);
  for (const pipelined of [1, 64]) {
    await measure(`link ask with 1 KiB payload, ${pipelined} on the way`, seconds, pipelined, sendBytes);
  }
  await measure('link tell, as fast as the window allows', seconds, 1, tell);
  await stop();
}

async function benchComlink(seconds: number): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: COMLINK_WORKER });
  const service: Remote<EchoService> = wrap<EchoService>(endpoint(worker));
  const send: Send = (revision) => service.echo({ key: KEY, revision });
  for (const pipelined of [1, 64, 512])
    await measure(`Comlink call, ${pipelined} on the way`, seconds, pipelined, send);
  await worker.terminate();
}

if (isMainThread) {
  const seconds = Number(process.argv[2] ?? 2);
  await benchLocal(seconds);
  await benchRemote(seconds);
  await benchComlink(seconds);
} else if (workerData === COMLINK_WORKER) {
  const service: EchoService = { echo: ({ revision }) => revision };
  expose(service, endpoint(parentPort!));
}
