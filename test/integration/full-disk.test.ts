// A disk that takes no more bytes, under a real server: writes are refused and nothing else stops, writes go on when there
// is room again, and a restart finds what was acknowledged and nothing that was refused. The disk is a limit on the size of
// files, which needs no privileges: the system refuses a write at the same place as a full file system does.
import { renameSync } from 'node:fs';
import ava from 'ava';
import { largestFileBytes, limitFileBytes } from '../server/data-folder.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const test = testNeeding(ava, ['prlimit']).serial;
const COLLECTION = '/api/v1/namespaces/default/configmaps';
const CLIENTS = 8;
const VALUE = 'x'.repeat(5000);
/** Room left when the limit is set. */
const ROOM_BYTES = 60_000;
/** Objects that each round makes before the limit is set: more than the deletes that can find room again. */
const KNOWN = 30;

interface Outcomes {
  readonly acknowledged: Set<string>;
  readonly refused: Set<string>;
  readonly removed: Set<string>;
}

function body(name: string): object {
  return { metadata: { name }, data: { value: VALUE } };
}

/** Creates objects from several clients at once until each has been refused a few times. */
async function fill(client: HttpsClient, outcomes: Outcomes, round: string): Promise<void> {
  const write = async (writer: number): Promise<void> => {
    for (let n = 0, refusals = 0; refusals < 3; n++) {
      const name = `${round}-${writer}-${n}`;
      const { status, json, text } = await client.request('POST', COLLECTION, { body: body(name) });
      if (status === 201) outcomes.acknowledged.add(name);
      else if (status === 507) {
        refusals++;
        outcomes.refused.add(name);
        if (json.reason !== 'InsufficientStorage' || json.code !== 507) throw new Error(text);
      } else throw new Error(`${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, writer) => write(writer)));
}

/**
 * Fills the disk until one more create is refused, and answers that. What a refused batch had written is cut off, and the engine may
 * begin a new file with it: then there is room for a while, and it has to be filled again.
 */
async function refusedCreate(client: HttpsClient, outcomes: Outcomes, round: string): Promise<Answer> {
  for (let n = 0; ; n++) {
    await fill(client, outcomes, `${round}-${n}`);
    const name = `${round}-more-${n}`;
    const answer = await client.request('POST', COLLECTION, { body: body(name) });
    if (answer.status === 507) return answer;
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    outcomes.acknowledged.add(name);
  }
}

/** Creates what can be deleted later: the server's own first writes may take all the room that is left. */
async function createKnown(client: HttpsClient, outcomes: Outcomes, round: string): Promise<void> {
  for (let n = 0; n < KNOWN; n++) {
    const name = `known-${round}-${n}`;
    const { status, text } = await client.request('POST', COLLECTION, { body: body(name) });
    if (status !== 201) throw new Error(`${status} ${text}`);
    outcomes.acknowledged.add(name);
  }
}

/** The same with a delete. Answers the name of the object that could not be deleted. */
async function refusedDelete(client: HttpsClient, outcomes: Outcomes, round: string): Promise<string> {
  for (let n = 0; ; n++) {
    const [name] = outcomes.acknowledged;
    if (name === undefined) throw new Error(`all of ${outcomes.removed.size} deletes found room`);
    const { status, text } = await client.request('DELETE', `${COLLECTION}/${name}`);
    if (status === 507) return name;
    if (status !== 200) throw new Error(`${status} ${text}`);
    outcomes.acknowledged.delete(name);
    outcomes.removed.add(name);
    await fill(client, outcomes, `${round}-again-${n}`);
  }
}

/** Not the server's own. */
function isOurs(name: string): boolean {
  return !name.endsWith('.crt');
}

async function names(client: HttpsClient): Promise<string[]> {
  const { json } = await client.get(COLLECTION);
  return (json.items ?? [])
    .map(({ metadata }) => metadata.name ?? '')
    .filter((name) => isOurs(name))
    .sort();
}

function limit(server: ServerProcess): void {
  limitFileBytes(server.pid, largestFileBytes(`${server.dataDirectory}/store`) + ROOM_BYTES);
}

for (const placement of ['single', 'default']) {
  test(`on a full disk writes are refused with 507 and the rest goes on, until there is room (${placement})`, async (t) => {
    const server = await startServer(t, { args: ['--placement', placement] });
    const { client } = server;
    const outcomes: Outcomes = { acknowledged: new Set(), refused: new Set(), removed: new Set() };
    const watch = await client.watch(`${COLLECTION}?watch=1`);

    for (const round of ['first', 'second', 'third']) {
      await createKnown(client, outcomes, round);
      limit(server);
      const refusal = await refusedCreate(client, outcomes, round);
      t.true(refusal.json.message?.includes(server.dataDirectory), refusal.text);
      t.regex(refusal.json.message ?? '', /full/);

      const known = await refusedDelete(client, outcomes, round);
      t.is((await client.get(`${COLLECTION}/${known}`)).json.data?.value, VALUE);
      t.is(
        (await client.request('PUT', `${COLLECTION}/${known}`, { body: body(known) })).status,
        200,
        'nothing changes',
      );
      t.deepEqual(await names(client), [...outcomes.acknowledged].sort());
      t.is((await client.get('/readyz')).status, 200);
      t.regex((await client.get('/metrics')).text, /^orch_store_writable\S* 0$/m);

      limitFileBytes(server.pid, undefined);
      const name = `after-${round}`;
      await eventually(
        () => client.request('POST', COLLECTION, { body: body(name) }),
        ({ status }) => status === 201,
      );
      outcomes.acknowledged.add(name);
      t.regex((await client.get('/metrics')).text, /^orch_store_writable\S* 1$/m);
      for (let event = await watch.next(); event?.object.metadata.name !== name; event = await watch.next()) {
        const seen = event?.object.metadata.name ?? '';
        const isKnown = outcomes.acknowledged.has(seen) || outcomes.removed.has(seen);
        if (isOurs(seen)) t.true(isKnown, `${seen} was refused and is watched`);
      }
    }

    for (const end of ['SIGTERM', 'SIGKILL']) {
      if (end === 'SIGTERM') t.is(await server.stop('SIGTERM'), 0);
      else await server.kill9();
      await server.restart();
      t.deepEqual(await names(client), [...outcomes.acknowledged].sort(), end);
    }
    t.true(outcomes.refused.size >= CLIENTS);
  });
}

test('a server killed while its disk is full has kept what it acknowledged and nothing else', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  const outcomes: Outcomes = { acknowledged: new Set(), refused: new Set(), removed: new Set() };
  limit(server);
  await fill(server.client, outcomes, 'round');
  await server.kill9();
  await server.restart();
  t.deepEqual(await names(server.client), [...outcomes.acknowledged].sort());
  t.is((await server.client.request('POST', COLLECTION, { body: body('goes-on') })).status, 201);
});

test('when there is room again a snapshot can be taken, and the server says so, although nobody has written since', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  const { client } = server;
  const outcomes: Outcomes = { acknowledged: new Set(), refused: new Set(), removed: new Set() };
  limit(server);
  await refusedCreate(client, outcomes, 'round');
  t.is((await client.get('/store/snapshot')).status, 507);
  limitFileBytes(server.pid, undefined);
  await eventually(
    () => client.get('/store/snapshot'),
    ({ status }) => status === 200,
  );
  t.regex((await client.get('/metrics')).text, /^orch_store_writable\S* 1$/m);
  t.deepEqual(await names(client), [...outcomes.acknowledged].sort());
});

test('a server whose files were away and are back is ready again, although nobody has written since', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  const { client, dataDirectory } = server;
  renameSync(`${dataDirectory}/store`, `${dataDirectory}/away`);
  await eventually(
    () => client.get('/readyz'),
    ({ status }) => status === 500,
  );
  renameSync(`${dataDirectory}/away`, `${dataDirectory}/store`);
  await eventually(
    () => client.get('/readyz'),
    ({ status }) => status === 200,
  );
  t.is((await client.request('POST', COLLECTION, { body: body('goes-on') })).status, 201);
});
