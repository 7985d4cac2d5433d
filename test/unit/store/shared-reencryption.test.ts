// What lies in etcd under an older key is written again under the first, beside servers that may be running.
import test, { type ExecutionContext } from 'ava';
import {
  reencryptShared,
  type SharedReencrypted,
  type SharedReencryptionParts,
} from '../../../actors/store/encryption/shared-reencryption.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import type { KeyService } from '../../../storage/encryption/kms-envelope.ts';
import { type EtcdCluster, EtcdError, type EtcdOperation } from '../../../storage/etcd/etcd-cluster.ts';
import type { EtcdModel } from '../../simulation/etcd-model.ts';
import { encryption, KMS, keyed } from '../storage/encryption/encryption-world.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { MessageWriter, type Version } from './store-model.ts';
import { DEADLINE_MS, type Rig, rigFor, until } from './store-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

const { timers } = realEnvironment;
const OLD = keyed('aescbc', 'old', 1);
const NEW = keyed('aesgcm', 'new', 2);
/** etcd's own bound of a request. */
const REQUEST_BYTES_MAX = 1.5 * 1024 * 1024;
const secret = (name: string): string => `core/secrets/default/${name}`;

/** A server whose secrets are encrypted, with the older key unless it is said otherwise. */
async function serverOn(t: ExecutionContext, model: EtcdModel, providers = [OLD, NEW]): Promise<Rig> {
  const options = { engine: () => engineOn(model), encryption: async () => encryption(providers) };
  const rig = await rigFor(t, { options });
  await rig.followers[0]!.subscribe();
  return rig;
}

/** `cluster`: the way by which values are read. */
function reencrypt(model: EtcdModel, more: Partial<SharedReencryptionParts> = {}): Promise<SharedReencrypted> {
  return reencryptShared({
    engine: engineOn(model),
    cluster: model.client(),
    prefix: '/registry',
    timers,
    encryption: encryption([NEW, OLD]),
    media: 'json',
    ...more,
  });
}

/** Reads the pages of values as the model has them, and does something behind each. */
function readingWith(model: EtcdModel, behind: () => Promise<unknown>): ReturnType<EtcdModel['client']> {
  const cluster = model.client();
  const read = cluster.range.bind(cluster);
  const range: EtcdCluster['range'] = async (request) => {
    const answer = await read(request);
    if (request.end !== undefined) await behind();
    return answer;
  };
  return Object.assign(cluster, { range });
}

/** What a server that has the new key alone begins with. */
async function stateUnderNew(t: ExecutionContext, model: EtcdModel): Promise<ReadonlyMap<string, Version>> {
  return new Map((await serverOn(t, model, [NEW])).followers[0]!.state);
}

test('what lies under an older key is the same object under the first, with its birth and a version of its own', async (t) => {
  const model = quietModel();
  const server = await serverOn(t, model);
  const born = new Map<string, number>();
  for (const name of ['a', 'b', 'c']) born.set(secret(name), await server.put(secret(name), name));
  await server.commit((writer) => [writer.put(secret('b'), born.get(secret('b'))!, 'changed', 'label')]);
  await server.put('core/configmaps/default/plain', 'x');
  // Gone with its last change, it lies there until somebody sweeps it.
  const writer = new MessageWriter();
  writer.transaction([writer.put(secret('gone'), 0, 'x')], [], [secret('gone')]);
  const { transactions, payload } = writer;
  await server.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
  await until(() => server.followers[0]!.state.size === 4);
  const before = new Map(server.followers[0]!.state);
  t.deepEqual(await reencrypt(model), { objects: 4, rewritten: 3 });
  t.deepEqual(await reencrypt(model), { objects: 4, rewritten: 0 });
  const counters = model.range({ key: '/registry/orch/writers/', end: '/registry/orch/writers0' });
  t.is(counters.pairs.length, 1, "the server's alone");
  const late = await serverOn(t, model, [NEW]);
  const after = new Map(late.followers[0]!.state);
  t.deepEqual([...after.keys()].sort(), [...before.keys()].sort());
  for (const [key, { data, label, born: was }] of before) t.like(after.get(key), { data, label, born: was }, key);
  const versions = [...born.keys()].map((key) => after.get(key)!.revision);
  t.is(new Set(versions).size, versions.length);
  t.true(versions.every((version) => version > Math.max(...[...before.values()].map(({ revision }) => revision))));
  t.true((await late.put(secret('gone'), 'again')) > 0);
});

test('what a server changes or makes meanwhile stays as it made it, and is looked at again', async (t) => {
  const model = quietModel();
  const server = await serverOn(t, model);
  const revision = await server.put(secret('a'), 'x');
  await server.put(secret('b'), 'y');
  const changes = [
    () => server.commit((writer) => [writer.put(secret('a'), revision, 'changed')]),
    () => server.put(secret('c')),
  ];
  const change = async (): Promise<unknown> => changes.shift()?.();
  t.deepEqual(await reencrypt(model, { cluster: readingWith(model, change) }), { objects: 3, rewritten: 3 });
  const after = await stateUnderNew(t, model);
  t.deepEqual([after.get(secret('a'))?.data, after.get(secret('b'))?.data], ['changed', 'y']);
});

test('a server that goes on writing under another key is not waited for', async (t) => {
  const model = quietModel();
  const server = await serverOn(t, model);
  const write = (): Promise<unknown> => server.commit((writer) => [writer.put(secret('a'), -1, 'again')]);
  await write();
  const error = await t.throwsAsync(reencrypt(model, { cluster: readingWith(model, write) }));
  t.like(error, { code: 'StoreUnusable' });
  t.regex(error.message, /^servers go on writing under other keys/);
});

test('a value that nearly fills a request of its own is written again, whatever comes before it', async (t) => {
  const model = quietModel();
  const server = await serverOn(t, model);
  for (const name of ['a', 'b', 'c']) await server.put(secret(name), 'x'.repeat(150_000));
  await server.put(secret('large'), 'x'.repeat(1_400_000));
  await server.put(secret('next'), 'x');
  const cluster = model.client();
  const transact = cluster.transact.bind(cluster);
  const bounded: EtcdCluster['transact'] = (transaction) =>
    transaction.success.reduce((sum, one) => sum + bytesOf(one), 0) > REQUEST_BYTES_MAX
      ? Promise.reject(new EtcdError('tooLarge', 'etcdserver: request is too large'))
      : transact(transaction);
  const engine = engineOn(model, Object.assign(cluster, { transact: bounded }));
  t.deepEqual(await reencrypt(model, { engine }), { objects: 5, rewritten: 5 });
  t.is((await stateUnderNew(t, model)).get(secret('large'))?.data.length, 1_400_000);
});

test('more than etcd takes at once are written again in several batches, each under a version of its own', async (t) => {
  const model = quietModel();
  const server = await serverOn(t, model);
  const writer = new MessageWriter();
  for (let number = 0; number < 130; number++) writer.transaction([writer.put(secret(`s${number}`), 0, `${number}`)]);
  const { transactions, payload } = writer;
  const { results } = await server.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
  t.deepEqual(await reencrypt(model), { objects: 130, rewritten: 130 });
  const after = [...(await stateUnderNew(t, model)).values()];
  const births = new Set(results.map((result) => result.ok && result.revision));
  t.true(after.every(({ born }) => births.delete(born)));
  t.true(after.every(({ key, data }) => key.endsWith(`/s${data}`)));
  t.is(new Set(after.map(({ revision }) => revision)).size, 130);
});

test('a key management service is asked for a data key first, and let go of in the end', async (t) => {
  const model = quietModel();
  const server = await serverOn(t, model);
  await server.put(secret('a'), 'x');
  let closed = 0;
  const service: KeyService = {
    encrypt: async (plain) => plain,
    decrypt: async (plain) => plain,
    close: () => closed++,
  };
  t.deepEqual(await reencrypt(model, { encryption: encryption([KMS, OLD], { service }) }), {
    objects: 1,
    rewritten: 1,
  });
  t.is(closed, 1);
  const options = { engine: () => engineOn(model), encryption: async () => encryption([KMS], { service }) };
  const late = await rigFor(t, { options });
  await late.followers[0]!.subscribe();
  t.is(late.followers[0]!.state.get(secret('a'))?.data, 'x');
});

function bytesOf(operation: EtcdOperation): number {
  if ('put' in operation) return operation.put.value.byteLength;
  return 'txn' in operation ? operation.txn.success.reduce((sum, one) => sum + bytesOf(one), 0) : 0;
}

test('where there is no store none is made', async (t) => {
  const model = quietModel();
  const { revision } = model;
  await t.throwsAsync(reencrypt(model), { message: /^there is no store at \/registry\/orch\/identity$/ });
  t.is(model.revision, revision);
});

test('where etcd goes away it ends with a line, and what was under way is done by the next run', async (t) => {
  const model = quietModel();
  const server = await serverOn(t, model);
  await server.put(secret('a'), 'a');
  const away = Object.assign(engineOn(model), { commit: () => new Promise<never>(() => {}) });
  // No time passes here but that of commits.
  const atOnce = { ...timers, after: (_delayMs: number, callback: () => void) => timers.after(0, callback) };
  await t.throwsAsync(reencrypt(model, { engine: away, timers: atOnce }), {
    code: 'StoreUnusable',
    message: /^etcd has not stored a batch for 30 s/,
  });
  t.deepEqual(await reencrypt(model), { objects: 1, rewritten: 1 });
});
