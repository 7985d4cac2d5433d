// A server under load whose threads stand still, whose messages arrive late and whose mailboxes are full: it answers late, or
// that it is too busy, and never wrongly; nothing that was acknowledged is lost. How long each fault was felt is printed.
import { fileURLToPath } from 'node:url';
import ava, { type ExecutionContext } from 'ava';
import { type Fault, injectFault, isFaultTaken, MAILBOXES_VARIABLE } from '../server/faults.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import type { WatchStream } from '../server/watch-stream.ts';
import { type Clients, startClients } from './durability.ts';
import { eventually, freshNamespace } from './objects.ts';

// One after the other: each keeps a server and its clients busy.
const test = ava.serial;
const PROGRAM = fileURLToPath(new URL('../server/breakable-server.js', import.meta.url));
const KINDS = ['ingress', 'auth', 'audit', 'hub', 'admission', 'store', 'scheduler', 'controllers'];
const FAULT_MS = 200;
const FAULTS: readonly Fault[] = [
  { type: 'stall', forMs: FAULT_MS },
  { type: 'hold', forMs: FAULT_MS },
];

/** Lets an actor go wrong, and answers when every client writes again, in milliseconds after it was told to. */
async function fire(server: ServerProcess, clients: Clients, kind: string, fault: Fault): Promise<number> {
  const { dataDirectory } = server;
  const startedMs = performance.now();
  injectFault(dataDirectory, kind, fault);
  await eventually(
    () => Promise.resolve(isFaultTaken(dataDirectory, kind)),
    (taken) => taken,
  );
  await clients.progress(1);
  return Math.round(performance.now() - startedMs);
}

async function assertWell(t: ExecutionContext, server: ServerProcess, clients: Clients): Promise<void> {
  await clients.progress(1);
  await clients.finish(t);
  t.false(server.stderr.includes('a thread has ended'), server.stderr);
  t.is(await server.stop(), 0, server.stderr);
}

for (const placement of ['single', 'default', 'wide']) {
  test(`under ${placement}, threads that stand still and messages that arrive late lose nothing`, async (t) => {
    const server = await startServer(t, { program: PROGRAM, args: ['--placement', placement] });
    const clients = await startClients(t, server.client, await freshNamespace(server.client));
    for (const fault of FAULTS) {
      const felt: string[] = [];
      for (const kind of KINDS) felt.push(`${kind} ${await fire(server, clients, kind, fault)}`);
      t.log(`${fault.type} for ${FAULT_MS} ms: every client writes again after, in ms: ${felt.join(', ')}`);
    }
    await assertWell(t, server, clients);
  });
}

/** The kinds whose mailboxes can refuse a request, and that hold two messages here. */
const ASKED = ['store', 'admission', 'auth', 'hub'];

for (const kind of ASKED) {
  test(`when the mailbox of ${kind} is full, clients are told to come back, and nothing is lost`, async (t) => {
    const { server, clients } = await startCramped(t, kind, 2);
    while (clients.overloads === 0) for (const fault of FAULTS) await fire(server, clients, kind, fault);
    t.log(`${clients.overloads} requests were refused`);
    await assertWell(t, server, clients);
  });
}

test('when the mailbox of ingress is full, watches end and are resumed, and nothing is lost', async (t) => {
  const { server, clients, configMaps } = await startCramped(t, 'ingress', 1);
  const { client } = server;
  // Each sees everything, and shares its chunks with no other.
  const open = (which: number): Promise<WatchStream> =>
    client.watch(`${configMaps}?watch=1&fieldSelector=metadata.name!%3Dnone-${which}`);
  let isEnded = false;
  do {
    // What comes to the hub meanwhile it does in one go, and more of them begin at once than the mailbox holds.
    injectFault(server.dataDirectory, 'hub', { type: 'hold', forMs: FAULT_MS });
    await eventually(
      () => Promise.resolve(isFaultTaken(server.dataDirectory, 'hub')),
      (taken) => taken,
    );
    for (const { ended } of await Promise.all([0, 1, 2, 3].map(open))) void ended.then(() => (isEnded = true));
    await clients.progress(1);
  } while (!isEnded);
  for (const fault of FAULTS) await fire(server, clients, 'ingress', fault);
  await assertWell(t, server, clients);
});

/** A server one of whose mailboxes holds very little, and clients. */
async function startCramped(
  t: ExecutionContext,
  kind: string,
  mailboxMax: number,
): Promise<{ server: ServerProcess; clients: Clients; configMaps: string }> {
  const env = { [MAILBOXES_VARIABLE]: `${kind}=${mailboxMax}` };
  const server = await startServer(t, { program: PROGRAM, args: ['--placement', 'default'], env });
  const namespace = await freshNamespace(server.client);
  const clients = await startClients(t, server.client, namespace, true);
  return { server, clients, configMaps: namespace.configMaps };
}
