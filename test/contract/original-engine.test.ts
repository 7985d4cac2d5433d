// Runs the contract of the original's layout on a model of etcd, on one that loses calls and answers, and on a real member.
import test from 'ava';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import type { SharedTransaction } from '../../storage/engines/shared-engine.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import type { EtcdTransaction, WatchListener } from '../../storage/etcd/etcd-cluster.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { OriginalServer } from '../server/original-server.ts';
import { type CallFate, EtcdModel } from '../simulation/etcd-model.ts';
import { engineOn, storedFormOf } from '../unit/storage/original/original-rig.ts';
import { originalEngineContract } from './original-engine-contract.ts';

const { timers } = realEnvironment;
/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

/** What waits behind it goes on when it is opened. */
class Gate {
  open = (): void => {};
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve));

  passed(): Promise<void>;
  passed<Value>(value: Value): Promise<Value>;
  async passed<Value>(value?: Value): Promise<Value | undefined> {
    await this.#opened;
    return value;
  }
}

const SOUND: CallFate = { delayMs: 0, loses: undefined };

function modelWith(nextFate: () => CallFate, watchDelayMs: () => number): EtcdModel {
  return new EtcdModel({ after: (delayMs, callback) => void timers.after(delayMs, callback), nextFate, watchDelayMs });
}

test('a consistent read that has waited since etcd was full goes on once it is not', async (t) => {
  const model = modelWith(
    () => SOUND,
    () => 0,
  );
  let barrier = Number.POSITIVE_INFINITY;
  let tellWaiting = (): void => {};
  let tellThere = (): void => {};
  const isWaiting = new Promise<void>((resolve) => (tellWaiting = resolve));
  const isThere = new Promise<void>((resolve) => (tellThere = resolve));
  const warn = (text: string): void => {
    if (text.startsWith('a consistent read waits')) tellWaiting();
  };
  const engine = engineOn(model.client(), { warn });
  await engine.open();
  await engine.follow({
    value: () => {},
    again: () => {},
    revision: (revision) => {
      if (revision >= barrier) tellThere();
    },
    lost: (error) => t.fail(error.message),
  });
  model.transact({ compare: [], success: [{ put: { key: '/elsewhere', value: Buffer.from('x') } }], failure: [] });
  model.isFull = true;
  barrier = await engine.readBarrier();
  await isWaiting;
  model.isFull = false;
  await isThere;
  await engine.close();
  t.pass();
});

test('a commit that the watch tells before its answer is told as it was made, though what came before it is opened later', async (t) => {
  const model = modelWith(
    () => SOUND,
    () => 0,
  );
  const [theirs, next, heard] = [new Gate(), new Gate(), new Gate()];
  const isTheirs = (path: string): boolean => path.endsWith('/theirs');
  const encryption = {
    readyFor: () => undefined,
    sealBare: (_key: string, _path: string, plain: Uint8Array) => plain,
    // As where a data key has to be asked for.
    openBare: (_key: string, path: string, bytes: Uint8Array) => (isTheirs(path) ? theirs.passed(bytes) : bytes),
    isBareStale: () => false,
  } as unknown as StoredEncryption;
  const client = model.client();
  const transact = client.transact.bind(client);
  const watch = client.watch.bind(client);
  const writes = (transaction: EtcdTransaction, name: string): boolean => JSON.stringify(transaction).includes(name);
  const engine = engineOn(
    Object.assign(client, {
      transact: async (transaction: EtcdTransaction) => {
        if (writes(transaction, 'default/second')) await next.passed();
        const answer = await transact(transaction);
        return writes(transaction, 'default/first') ? heard.passed(answer) : answer;
      },
      watch: (from: string, end: string, revision: number, listener: WatchListener) =>
        watch(from, end, revision, {
          ...listener,
          onEvents: (events) => {
            listener.onEvents(events);
            if (events.some(({ key }) => key.endsWith('default/first'))) heard.open();
          },
        }),
    }),
    { encryption },
  );
  const told = new Map<number, readonly string[]>();
  const isTold = new Gate();
  await engine.open();
  await engine.follow({
    value: () => {},
    again: () => {},
    revision: (revision, events) => {
      told.set(
        revision,
        events.map(({ key }) => key),
      );
      if (revision === model.revision) isTold.open();
    },
    lost: (error) => t.fail(error.message),
  });
  const mapOf = (name: string): SharedTransaction => {
    const key = `core/configmaps/default/${name}`;
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'default' } };
    return { guards: [], writes: [{ key, expect: 0, value: storedFormOf(key, object) }], place: 0 };
  };
  const original = new OriginalServer(model.client());
  await original.create('secrets/default/theirs', 'v1', 'Secret', { metadata: { name: 'theirs' } });
  const first = await engine.commit([mapOf('first')]);
  const second = engine.commit([mapOf('second')]);
  theirs.open();
  await isTold.passed();
  t.deepEqual(told.get(first.revision), ['core/configmaps/default/first']);
  next.open();
  t.deepEqual((await second).held, [true]);
  await engine.close();
});

originalEngineContract('model', async () => {
  const model = modelWith(
    () => SOUND,
    () => 0,
  );
  const client = () => model.client();
  return { prefix: '/registry', client, soundClient: client, dispose: async () => {} };
});

originalEngineContract('model that loses calls', async () => {
  const random = new SeededRandom(11);
  let isSound = false;
  const fate = (): CallFate => {
    if (isSound) return SOUND;
    return {
      delayMs: random.below(3),
      loses: ([undefined, 'call', 'answer'] as const)[Math.max(0, random.below(12) - 9)],
    };
  };
  const model = modelWith(fate, () => random.below(4));
  const breaking = timers.every(5, () => random.below(3) === 0 && model.breakWatches());
  const soundClient = () => {
    const client = model.client();
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: readonly unknown[]): unknown => {
          isSound = true;
          try {
            return Reflect.apply(member, target, given);
          } finally {
            isSound = false;
          }
        };
      },
    });
  };
  return { prefix: '/registry', client: () => model.client(), soundClient, dispose: async () => breaking.cancel() };
});

// Where there is no etcd, a line says that its part of the contract is skipped.
const onEtcd = testNeeding(test, ['etcd']);
let member: EtcdMember;
let keyspaces = 0;
onEtcd.before(async () => {
  member = await EtcdMember.start();
});
onEtcd.after.always(() => member.dispose());

// One after the other: who compacts an etcd does so for all its keyspaces.
originalEngineContract(
  'etcd',
  async () => {
    const client = () => new EtcdClient({ servers: [member.server] }, timers);
    return { prefix: `/test-${++keyspaces}`, client, soundClient: client, dispose: async () => {} };
  },
  onEtcd.serial,
);
