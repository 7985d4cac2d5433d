// A hundred watchers that have stopped reading, beside two hundred that read: the others miss nothing, the server's memory
// does not grow with what the stalled ones miss, and a stalled one that reads on gets all of it, or the 410 event when the
// history window has passed it.
import { createSecureContext } from 'node:tls';
import test from 'ava';
import { processUsage } from '../../bench/process-usage.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import type { EventType } from '../soak/event-reader.ts';
import { type SoakServer, WatchConnection, type WatchSink } from '../soak/watch-connection.ts';
import { eventually, freshNamespace } from './objects.ts';

const LIVE = 200;
const STALLED = 100;
/** A server waits ten seconds for the request of a connection: a busy machine takes longer for hundreds of handshakes. */
const OPENED_TOGETHER = 20;
/** Of the stalled ones, how many read on: at first, and when the window has passed them. */
const READING_ON = 3;
const HISTORY_BYTES = 16 * 2 ** 20;
const LARGE_BYTES = 100_000;
/** More than the kernel holds for a connection, and less than the window. */
const WRITES_WITHIN_WINDOW = 90;
/** More than the window. For a hundred watchers together, several gigabytes. */
const WRITES_PAST_WINDOW = 300;
const GROWTH_BYTES_MAX = 256 * 2 ** 20;

/** Tells both objects from what the controllers put into a new namespace. */
const WRITTEN = { written: 'yes' };

class Reader implements WatchSink {
  readonly versions: number[] = [];
  readonly errors: string[] = [];
  isOpen = false;
  isEnded = false;
  readonly connection: WatchConnection;
  readonly #stalls: boolean;

  constructor(server: SoakServer, path: string, stalls: boolean) {
    this.#stalls = stalls;
    this.connection = new WatchConnection(server, path, this);
  }

  onHead(status: number): void {
    this.isOpen = status === 200;
    if (this.#stalls) this.connection.pause();
  }

  onEvent(type: EventType, _object: number, version: number, line: Buffer): void {
    if (type === 'ERROR') this.errors.push(line.toString('utf8'));
    else if (type !== 'BOOKMARK') this.versions.push(version);
  }

  onEnd(): void {
    this.isEnded = true;
  }
}

/** Two objects that are written over and over: a large one, and a small one that the live watchers select. */
class Objects {
  readonly largeVersions: number[] = [];
  readonly smallVersions: number[] = [];
  readonly #server: ServerProcess;
  readonly #collection: string;
  #writes = 0;

  constructor(server: ServerProcess, collection: string) {
    this.#server = server;
    this.#collection = collection;
  }

  async write(count: number): Promise<void> {
    for (const end = this.#writes + count; this.#writes < end; this.#writes++) {
      const large = {
        metadata: { name: 'large', labels: WRITTEN },
        data: { text: String(this.#writes).padEnd(LARGE_BYTES, 'x') },
      };
      const small = {
        metadata: { name: 'small', labels: { ...WRITTEN, live: 'yes' } },
        data: { text: String(this.#writes) },
      };
      this.largeVersions.push(await this.#put('large', large));
      this.smallVersions.push(await this.#put('small', small));
    }
  }

  async #put(name: string, body: object): Promise<number> {
    const { client } = this.#server;
    const isFirst = this.#writes === 0;
    const path = isFirst ? this.#collection : `${this.#collection}/${name}`;
    const { status, json, text } = await client.request(isFirst ? 'POST' : 'PUT', path, { body });
    if (status >= 300) throw new Error(text);
    return Number(json.metadata.resourceVersion);
  }
}

const after = (versions: readonly number[], version: number): number[] => versions.filter((each) => each > version);

test('stalled watchers cost no memory and delay nobody, and read on where they stopped', async (t) => {
  const history = ['--store-engine', 'memory', '--store-history-bytes', String(HISTORY_BYTES)];
  const server = await startServer(t, { args: history, placement: 'default' });
  const { configMaps: collection } = await freshNamespace(server.client);
  const objects = new Objects(server, collection);
  await objects.write(1);
  const from = objects.smallVersions[0]!;
  const target = { port: server.port, token: server.token, secureContext: createSecureContext({ ca: server.caPem }) };
  const watch = (selector: string, stalls: boolean): Reader =>
    new Reader(target, `${collection}?watch=1&resourceVersion=${from}${selector}`, stalls);
  const [live, stalled]: [Reader[], Reader[]] = [[], []];
  t.teardown(() => {
    for (const { connection } of [...live, ...stalled]) connection.close();
  });
  while (live.length < LIVE || stalled.length < STALLED) {
    for (let more = 0; more < OPENED_TOGETHER; more++) {
      if (live.length < LIVE) live.push(watch('&labelSelector=live', false));
      else if (stalled.length < STALLED) stalled.push(watch('&labelSelector=written', true));
    }
    await until(() => [...live, ...stalled].every(({ isOpen }) => isOpen));
  }

  await objects.write(WRITES_WITHIN_WINDOW);
  await eventually(
    async () => new MetricsText((await server.client.get('/metrics')).text),
    (metrics) => metrics.sum('orch_hub_watchers') - metrics.sum('orch_hub_live_watchers') >= STALLED,
  );
  const before = processUsage(server.pid)?.rssBytes ?? 0;
  const everything = [...objects.largeVersions, ...objects.smallVersions].sort((left, right) => left - right);
  const late = stalled.slice(0, READING_ON);
  for (const { connection } of late) connection.resume();
  await until(() => late.every(({ versions }) => versions.at(-1) === everything.at(-1)));
  for (const { versions, errors } of late) {
    t.deepEqual(versions, after(everything, from));
    t.deepEqual(errors, []);
  }
  for (const { connection } of late) connection.close();

  await objects.write(WRITES_PAST_WINDOW);
  await eventually(
    () => server.client.get(`${collection}?watch=1&timeoutSeconds=1&resourceVersion=${everything.at(-1)}`),
    ({ text }) => text.includes('"code":410'),
  );
  const growth = (processUsage(server.pid)?.rssBytes ?? 0) - before;
  t.true(growth < GROWTH_BYTES_MAX, `${growth} bytes more`);
  t.log(
    `${(growth / 2 ** 20).toFixed()} MB more for ${STALLED} watchers that missed ${WRITES_PAST_WINDOW} large events`,
  );

  await until(() => live.every(({ versions }) => versions.at(-1) === objects.smallVersions.at(-1)));
  const expected = after(objects.smallVersions, from);
  for (const { versions, errors, isEnded } of live) t.deepEqual([versions, errors, isEnded], [expected, [], false]);

  const tooLate = stalled.slice(READING_ON, 2 * READING_ON);
  t.false(tooLate.some(({ isEnded }) => isEnded));
  for (const { connection } of tooLate) connection.resume();
  await until(() => tooLate.every(({ isEnded }) => isEnded));
  for (const { versions, errors } of tooLate) {
    t.deepEqual(versions, after(everything, from).slice(0, versions.length));
    t.is(errors.length, 1);
    t.regex(errors[0]!, /"code":410/);
  }
});

function until(condition: () => boolean): Promise<boolean> {
  return eventually(
    () => Promise.resolve(condition()),
    (isSo) => isSo,
  );
}
