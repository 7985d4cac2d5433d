// Lists at any version of the history window, from any thread, before and after a restart: what was there just then.
import ava from 'ava';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';
import { configMap, freshNamespace, type Namespace } from './objects.ts';

const test = ava.serial;
const NAMES = 30;
const WRITES = 1200;
const LAST = 'last';
/** A controller writes into each namespace too. */
const labels = { of: 'churn' };
const SELECTOR = 'labelSelector=of%3Dchurn';
const READS = 1000;
/** At once, on as many connections: so that every thread that serves is asked. */
const READERS = 8;

/** Creates, changes and deletes, one after another, and LAST at the end. */
async function churn(client: HttpsClient, { configMaps }: Namespace, random: SeededRandom): Promise<void> {
  const present = new Set<string>();
  for (let write = 0; write < WRITES; write++) {
    const name = `c-${random.below(NAMES)}`;
    const body = configMap({ name, labels }, { write: String(write) });
    if (!present.has(name)) {
      await client.request('POST', configMaps, { body });
      present.add(name);
    } else if (random.below(3) === 0) {
      await client.request('DELETE', `${configMaps}/${name}`);
      present.delete(name);
    } else await client.request('PUT', `${configMaps}/${name}`, { body });
  }
  await client.request('POST', configMaps, { body: configMap({ name: LAST, labels }) });
}

/** The state after each change, as sorted lines of name and version, from a watch of all that happened. */
async function statesOf(client: HttpsClient, { configMaps }: Namespace, from: number): Promise<Map<number, string>> {
  const watch = await client.watch(`${configMaps}?watch=true&${SELECTOR}&resourceVersion=${from}`);
  const events = await watch.until(({ object }) => object.metadata.name === LAST);
  watch.close();
  const present = new Map<string, string>();
  const states = new Map([[from, '']]);
  for (const { type, object } of events) {
    const { name = '', resourceVersion = '' } = object.metadata;
    if (type === 'DELETED') present.delete(name);
    else present.set(name, resourceVersion);
    states.set(Number(resourceVersion), linesOf(present));
  }
  return states;
}

function linesOf(present: Iterable<readonly [name: string, version: string]>): string {
  return [...present]
    .map(([name, version]) => `${name}@${version}`)
    .sort()
    .join();
}

/** Reads at random versions; answers what was wrong. */
async function wrongReads(
  client: HttpsClient,
  { configMaps }: Namespace,
  states: ReadonlyMap<number, string>,
  random: SeededRandom,
): Promise<readonly string[]> {
  const versions = [...states.keys()];
  const wrong: string[] = [];
  let left = READS;
  const read = async (): Promise<void> => {
    while (left-- > 0) {
      const version = versions[random.below(versions.length)]!;
      const path = `${configMaps}?${SELECTOR}&resourceVersionMatch=Exact&resourceVersion=${version}`;
      const { status, json } = await client.get(path);
      const seen = (json.items ?? []).map(
        ({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? ''] as const,
      );
      const isRight = json.metadata.resourceVersion === String(version) && linesOf(seen) === states.get(version);
      if (status !== 200 || !isRight) wrong.push(`${version}: ${status} ${linesOf(seen)}, not ${states.get(version)}`);
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return wrong;
}

for (const placement of ['single', 'wide']) {
  test(`a thousand versions of the window are read as they were, also after a restart (${placement})`, async (t) => {
    const server = await startServer(t, { args: ['--placement', placement, '--store-compaction-interval', '0'] });
    const { client } = server;
    const namespace = await freshNamespace(client);
    const from = Number((await client.get(namespace.configMaps)).json.metadata.resourceVersion);
    await churn(client, namespace, new SeededRandom(1));
    const states = await statesOf(client, namespace, from);
    t.true(states.size > WRITES);
    t.deepEqual(await wrongReads(client, namespace, states, new SeededRandom(2)), []);
    await server.stop();
    await server.restart();
    t.deepEqual(await wrongReads(client, namespace, states, new SeededRandom(3)), []);
  });
}
