// How soon a watch at one server shows what another acknowledged, and for how long writes and reads wait when the member that leads is
// killed. Measures, and judges nothing.
import { eventually, freshNamespace } from '../integration/objects.ts';
import { leaderOf } from '../server/etcd-gateway.ts';
import { BalancedCluster } from './balanced-cluster.ts';

const WRITES = 500;
const PAUSE_MS = 5;

export interface ServersFigures {
  /** From the answer of one server to the event at another: milliseconds, sorted; 0 where the event came first. */
  readonly seenAfterMs: readonly number[];
  /** From the kill of the leading member to the first write acknowledged, by server. */
  readonly writesAfterMs: readonly number[];
  /** The slowest read at version 0 until then. */
  readonly slowestReadMs: number;
  readonly failedReads: number;
}

export async function measureServers(): Promise<ServersFigures> {
  const cluster = await BalancedCluster.start();
  try {
    const clients = cluster.servers.map(({ url }) => cluster.client(url));
    const [writer, other] = clients;
    const { configMaps } = await freshNamespace(writer!);
    const { metadata } = (await other!.get(configMaps)).json;
    const watch = await other!.watch(`${configMaps}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    const [answered, seen] = [new Map<string, number>(), new Map<string, number>()];
    const following = (async () => {
      for await (const { object } of watch) seen.set(object.metadata.name ?? '', performance.now());
    })();
    for (let index = 0; index < WRITES; index++) {
      const name = `seen-${index}`;
      const { status, text } = await writer!.request('POST', configMaps, { body: { metadata: { name } } });
      if (status !== 201) throw new Error(text);
      answered.set(name, performance.now());
      await pause(PAUSE_MS);
    }
    await eventually(
      async () => seen.has(`seen-${WRITES - 1}`),
      (isSeen) => isSeen,
    );
    watch.close();
    await following;
    const seenAfterMs = [...answered].map(([name, atMs]) => Math.max(0, seen.get(name)! - atMs)).sort((a, b) => a - b);

    const leader = await leaderOf(cluster.members);
    const killedMs = performance.now();
    let [isOver, slowestReadMs, failedReads] = [false, 0, 0];
    const reading = clients.map(async (client) => {
      while (!isOver) {
        const fromMs = performance.now();
        const answer = await client.get(`${configMaps}/seen-0?resourceVersion=0`).catch(() => undefined);
        if (answer?.status !== 200) failedReads++;
        slowestReadMs = Math.max(slowestReadMs, performance.now() - fromMs);
        await pause(PAUSE_MS);
      }
    });
    await leader?.kill9();
    const writesAfterMs = await Promise.all(
      clients.map(async (client, index) => {
        await eventually(
          () => client.request('POST', configMaps, { body: { metadata: { name: `again-${index}` } } }),
          ({ status }) => status === 201 || status === 409,
        );
        return performance.now() - killedMs;
      }),
    );
    isOver = true;
    await Promise.all(reading);
    for (const client of clients) client.close();
    return { seenAfterMs, writesAfterMs, slowestReadMs, failedReads };
  } finally {
    await cluster.dispose();
  }
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, forMs);
  });
}
