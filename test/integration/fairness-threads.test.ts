// The ingresses of several threads share the seats of a level: what comes in on another thread waits for a seat that this one has.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { LEVELS, lateWrite, level, oneSeat, operatorFile, state } from './flow-levels.ts';
import { eventually, freshNamespace } from './objects.ts';

const USERS = ['elephant', 'mouse'];
const PLACEMENT = {
  threads: [
    { name: 'front', count: 3, actors: ['ingress', 'auth', 'audit', 'hub', 'admission'] },
    { name: 'store', count: 1, actors: ['store'] },
    { name: 'control', count: 1, actors: ['scheduler', 'controllers'] },
  ],
};
/** Each on a connection of its own, so that every thread gets some. */
const READS = 24;

test('requests on every thread wait for the one seat, and all get it in their turn', async (t) => {
  const placement = operatorFile(t, 'placement.json', JSON.stringify(PLACEMENT));
  const server = await startServer(t, { args: [...oneSeat(t, USERS), '--placement', placement] });
  const { client } = server;
  await level(server, 'herd', { users: USERS });
  const { uid } = (await client.get(`${LEVELS}/herd`)).json.metadata;
  const together = (path: string) =>
    Promise.all(Array.from({ length: READS }, (_, index) => client.get(path, { token: USERS[index % 2]! })));
  await eventually(
    () => together('/version'),
    (answers) => answers.every(({ headers }) => headers['x-orch-pf-prioritylevel-uid'] === uid),
  );
  const namespace = await freshNamespace(client);
  for (const holder of USERS) {
    const late = lateWrite(server, namespace, holder);
    await state(server, 'herd', 1, 0);
    const reads = together(namespace.configMaps);
    await state(server, 'herd', 1, READS);
    late.finish();
    t.is(await late.answered, 201);
    for (const { status } of await reads) t.is(status, 200);
    await state(server, 'herd', 0, 0);
  }
});
