// What the engine of the original's layout promises (storage/etcd/original/original-engine.ts) beside a server that does what the
// original does, as one suite: on a model of etcd and on a real one.
import test, { type ExecutionContext, type SerialFn } from 'ava';
import type { OrchError } from '../../runtime/errors.ts';
import type { SharedEngine, SharedEvent, SharedTransaction } from '../../storage/engines/shared-engine.ts';
import { type EtcdCluster, EtcdError } from '../../storage/etcd/etcd-cluster.ts';
import { EtcdEngine } from '../../storage/etcd/etcd-engine.ts';
import type { OriginalSettings } from '../../storage/etcd/original/assembled-engine.ts';
import { Lost, OriginalServer } from '../server/original-server.ts';
import { engineOn, objectOf, settingsFor, storedFormOf } from '../unit/storage/original/original-rig.ts';

export interface OriginalSubject {
  readonly prefix: string;
  /** One more way to the cluster. */
  client(): EtcdCluster;
  /** One on which calls are not lost: for what stands beside the subject. */
  soundClient(): EtcdCluster;
}

/** Notes what an engine tells. */
class Listener {
  readonly values = new Map<string, { readonly revision: number; readonly text: string }>();
  readonly told: { readonly revision: number; readonly events: readonly string[] }[] = [];
  /** What could not be read. */
  readonly unread: SharedEvent[] = [];
  lost: Error | undefined;
  #waiting: (() => void)[] = [];

  readonly follower = {
    value: (key: string, revision: number, value: Uint8Array): void => {
      this.values.set(key, { revision, text: textOf(key, value) });
    },
    again: (): void => this.values.clear(),
    revision: (revision: number, events: readonly SharedEvent[]): void => {
      this.unread.push(...events.filter(({ unread }) => unread !== undefined));
      this.told.push({
        revision,
        events: events.map(({ key, value }) => (value ? `${key}=${textOf(key, value)}` : `-${key}`)),
      });
      for (const go of this.#waiting.splice(0)) go();
    },
    lost: (error: Error): void => {
      this.lost = error;
      for (const go of this.#waiting.splice(0)) go();
    },
  };

  /** What was told of a key. */
  of(part: string): readonly string[] {
    return this.told.flatMap(({ events }) => events).filter((event) => event.includes(part));
  }

  async until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  reach(revision: number): Promise<void> {
    return this.until(() => (this.told.at(-1)?.revision ?? 0) >= revision);
  }
}

function textOf(key: string, value: Uint8Array): string {
  const { data } = objectOf(key, value) as { readonly data?: { readonly k?: string } };
  return data?.k ?? '';
}

const MAP = 'core/configmaps/default/';
const metadataOf = (key: string) => ({
  name: key.slice(key.lastIndexOf('/') + 1),
  namespace: 'default',
  uid: `uid-${key}`,
});

function write(key: string, expect: number, text: string | undefined): SharedTransaction {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: metadataOf(key), data: { k: text } };
  return {
    guards: [],
    writes: [{ key, expect, value: text === undefined ? undefined : storedFormOf(key, object) }],
    place: 0,
  };
}

/** A service and the records of what it has. */
function serviceWith(key: string, ip: string, port: number): SharedTransaction {
  const spec = { type: 'NodePort', clusterIP: ip, clusterIPs: [ip], ports: [{ port: 80, nodePort: port }] };
  const record = (name: string, storageKey: string) => {
    const form = { kind: 'Record', apiVersion: 'internal/v1', metadata: { name } };
    return { key: `${storageKey}//${name}`, expect: 0, value: storedFormOf(`${storageKey}//${name}`, form) };
  };
  const service = { kind: 'Service', apiVersion: 'v1', metadata: metadataOf(key), spec };
  return {
    guards: [],
    writes: [
      { key, expect: 0, value: storedFormOf(key, service) },
      record(ip, 'internal/clusteraddresses'),
      record(String(port), 'internal/nodeports'),
    ],
    place: 0,
  };
}

async function opened(engine: SharedEngine): Promise<Listener> {
  const listener = new Listener();
  await engine.open();
  await engine.follow(listener.follower);
  return listener;
}

export function originalEngineContract(
  name: string,
  makeSubject: () => Promise<OriginalSubject & { dispose(): Promise<void> }>,
  declare: SerialFn = test,
): void {
  const contract = (title: string, run: (t: ExecutionContext, world: World) => Promise<void>) =>
    declare(`${name}: ${title}`, async (t) => {
      const subject = await makeSubject();
      const world = new World(subject);
      try {
        await run(t, world);
      } finally {
        await world.close();
        await subject.dispose();
      }
    });

  contract('a keyspace of the own layout is refused with a line, and the reverse', async (t, world) => {
    await world.engine().open();
    const own = world.ownEngine();
    const error = await t.throwsAsync<OrchError>(own.open());
    t.is(error?.code, 'StoreUnusable');
    t.regex(error?.message ?? '', /was made with --store-layout kubernetes/);
    const other = new World({ ...world.subject, prefix: `${world.subject.prefix}-own` });
    await other.ownEngine().open();
    await t.throwsAsync(other.engine().open(), { message: /was made without --store-layout kubernetes/ });
    await other.close();
  });

  contract('what one writes all are told, and the original reads it where it looks', async (t, world) => {
    const [one, other] = [world.engine(), world.engine()];
    const [mine, theirs] = [await opened(one), await opened(other)];
    const first = await one.commit([write(`${MAP}a`, 0, 'x')]);
    t.deepEqual(first.held, [true]);
    for (const listener of [mine, theirs]) {
      await listener.reach(first.revision);
      t.deepEqual(listener.of(`${MAP}a`), [`${MAP}a=x`]);
    }
    const found = await world.original.get('configmaps/default/a');
    t.like(found, { revision: first.revision, apiVersion: 'v1', isProtobuf: true });
    t.like(found?.object, { kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'x' } });
    t.false(JSON.stringify(found).includes('resourceVersion'));
  });

  contract('what the original writes, changes and removes all are told', async (t, world) => {
    const engine = world.engine();
    const listener = await opened(engine);
    const object = { metadata: { ...metadataOf('b'), resourceVersion: '' }, data: { k: '1' } };
    const born = await world.original.create('configmaps/default/b', 'v1', 'ConfigMap', object);
    const changed = await world.original.update('configmaps/default/b', 'ConfigMap', (found) => ({
      ...found,
      data: { k: '2' },
    }));
    const lost = await engine.commit([write(`${MAP}b`, born, 'late')]);
    t.deepEqual(lost.held, [false]);
    const mine = await engine.commit([write(`${MAP}b`, changed, '3')]);
    t.deepEqual(mine.held, [true]);
    await t.throwsAsync(world.original.create('configmaps/default/b', 'v1', 'ConfigMap', object), { instanceOf: Lost });
    const removed = await world.original.delete('configmaps/default/b');
    await listener.reach(removed);
    t.deepEqual(listener.of(`${MAP}b`), [`${MAP}b=1`, `${MAP}b=2`, `${MAP}b=3`, `-${MAP}b`]);
  });

  contract(
    'objects of the original are there at the start, Protobuf and JSON, and what is none is left alone',
    async (t, world) => {
      const { original } = world;
      const revision = await original.create('configmaps/default/p', 'v1', 'ConfigMap', {
        metadata: metadataOf('p'),
        data: { k: 'p' },
      });
      await original.createJson('configmaps/default/j', {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: metadataOf('j'),
        data: { k: 'j' },
      });
      await original.createJson('example.com/tabs/default/t', {
        kind: 'Tab',
        apiVersion: 'example.com/v1',
        metadata: metadataOf('t'),
      });
      const strange = [
        ['widgets/default/w', Buffer.from('not ours')],
        ['example.com/tabs/default/x', Buffer.from('k8s\0 of a server that is not here')],
        ['masterleases/somebody', Buffer.from('?')],
      ] as const;
      for (const [below, value] of strange) await original.leave(below, value);
      const engine = world.engine();
      const listener = await opened(engine);
      t.deepEqual(listener.values.get(`${MAP}p`), { revision, text: 'p' });
      t.is(listener.values.get(`${MAP}j`)?.text, 'j');
      t.deepEqual([...listener.values.keys()].sort(), [`${MAP}j`, `${MAP}p`, 'example.com/tabs/default/t'].sort());
      const { revision: last } = await engine.commit([write(`${MAP}new`, 0, 'n')]);
      await listener.reach(last);
      const { pairs } = await world.sound.range({ key: original.path('widgets/'), end: original.path('widgets0') });
      t.deepEqual(
        pairs.map(({ value }) => Buffer.from(value).toString()),
        ['not ours'],
      );
    },
  );

  contract('a transaction whose guard has changed is not made, and nothing of it is told', async (t, world) => {
    const engine = world.engine();
    const listener = await opened(engine);
    const { revision } = await engine.commit([write(`${MAP}g`, 0, 'x')]);
    await world.original.update('configmaps/default/g', 'ConfigMap', (found) => ({ ...found, data: { k: 'y' } }));
    const guarded = { ...write(`${MAP}h`, 0, 'h'), guards: [{ key: `${MAP}g`, revision }] };
    const { held, revision: tried } = await engine.commit([guarded]);
    t.deepEqual(held, [false]);
    await listener.reach(tried);
    t.deepEqual(listener.of(`${MAP}h`), []);
  });

  contract('many are under way at once, and each is told once, in the order of revisions', async (t, world) => {
    const engine = world.engine();
    const { lanes, stride, base } = await engine.open();
    t.deepEqual([stride, base, lanes > 8], [1, 0, true]);
    const listener = new Listener();
    await engine.follow(listener.follower);
    const commits = await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        const first = await engine.commit([write(`${MAP}l${lane}`, 0, 'a')]);
        return engine.commit([write(`${MAP}l${lane}`, first.revision, 'b')]);
      }),
    );
    t.true(commits.every(({ held }) => held[0]));
    await listener.reach(Math.max(...commits.map(({ revision }) => revision)));
    const revisions = listener.told.map(({ revision }) => revision);
    t.deepEqual(
      revisions,
      [...new Set(revisions)].sort((a, b) => a - b),
    );
    for (let lane = 0; lane < lanes; lane++) {
      t.deepEqual(listener.of(`${MAP}l${lane}=`), [`${MAP}l${lane}=a`, `${MAP}l${lane}=b`]);
    }
  });

  contract('two that write the same key at once: one of them holds', async (t, world) => {
    const engines = [world.engine(), world.engine()];
    for (const engine of engines) await opened(engine);
    for (let round = 0; round < 10; round++) {
      const commits = await Promise.all(
        engines.map((engine, index) => engine.commit([write(`${MAP}r${round}`, 0, String(index))])),
      );
      t.is(commits.filter(({ held }) => held[0]).length, 1);
    }
  });

  contract('an address or port that either server has given the other does not give', async (t, world) => {
    const engine = world.engine();
    const listener = await opened(engine);
    t.deepEqual(await world.original.given('addresses'), []);
    const made = await engine.commit([serviceWith('core/services/default/s', '10.96.0.5', 30007)]);
    t.deepEqual(made.held, [true]);
    await listener.reach(made.revision);
    t.deepEqual([await world.original.given('addresses'), await world.original.given('ports')], [[4], [7]]);
    await t.throwsAsync(world.original.allocate('addresses', 4), { message: /is given/ });
    await world.original.createService(
      'services/specs/default/theirs',
      { type: 'ClusterIP', clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] },
      { address: 8 },
      { metadata: metadataOf('theirs') },
    );
    await listener.until(() => listener.of('core/services/default/theirs').length > 0);
    t.deepEqual(listener.of('internal/clusteraddresses//10.96.0.9'), ['internal/clusteraddresses//10.96.0.9=']);
    t.deepEqual((await engine.commit([serviceWith('core/services/default/s2', '10.96.0.9', 30008)])).held, [false]);
    const removal = {
      guards: [],
      writes: [
        { key: 'core/services/default/s', expect: made.revision, value: undefined },
        { key: 'internal/clusteraddresses//10.96.0.5', expect: made.revision, value: undefined },
        { key: 'internal/nodeports//30007', expect: made.revision, value: undefined },
      ],
      place: 0,
    };
    t.deepEqual((await engine.commit([removal])).held, [true]);
    t.deepEqual([await world.original.given('addresses'), await world.original.given('ports')], [[8], []]);
  });

  contract('a race for a range is lost by one of two, and known by the other', async (t, world) => {
    const [one, other] = [world.engine(), world.engine()];
    const [mine, theirs] = [await opened(one), await opened(other)];
    for (let round = 0; round < 8; round++) {
      const [ip, port] = [`10.96.0.${20 + round}`, 30010 + round];
      const commits = await Promise.all([
        one.commit([serviceWith(`core/services/default/a${round}`, ip, port)]),
        other.commit([serviceWith(`core/services/default/b${round}`, ip, port)]),
      ]);
      t.is(commits.filter(({ held }) => held[0]).length, 1);
      const last = Math.max(...commits.map(({ revision }) => revision));
      await Promise.all([mine.reach(last), theirs.reach(last)]);
    }
    t.is((await world.original.given('addresses')).length, 8);
  });

  contract(
    'a read barrier is as new as what the original was acknowledged, and as what lies elsewhere',
    async (t, world) => {
      const engine = world.engine();
      const listener = await opened(engine);
      const revision = await world.original.create('configmaps/default/n', 'v1', 'ConfigMap', {
        metadata: metadataOf('n'),
      });
      t.true((await engine.readBarrier()) >= revision);
      const elsewhere = {
        compare: [],
        success: [{ put: { key: '/elsewhere', value: Buffer.from('x') } }],
        failure: [],
      };
      const { revision: later } = await world.sound.transact(elsewhere);
      const barrier = await engine.readBarrier();
      t.true(barrier >= later);
      await listener.reach(barrier);
      t.deepEqual(listener.of(`${MAP}n`), [`${MAP}n=`]);
    },
  );

  contract('events lie under leases that several share, and go when they end', async (t, world) => {
    const engine = world.engine({ eventTtlSeconds: 2, leaseReuseSeconds: 1 });
    const listener = await opened(engine);
    const event = (key: string): SharedTransaction => {
      const object = { kind: 'Event', apiVersion: 'v1', metadata: metadataOf(key), involvedObject: {} };
      return { guards: [], writes: [{ key, expect: 0, value: storedFormOf(key, object) }], place: 0 };
    };
    const { revision } = await engine.commit([event('core/events/default/mine')]);
    await world.original.createEvent(
      'events/default/theirs',
      { metadata: metadataOf('theirs'), involvedObject: {} },
      2,
    );
    await engine.commit([write(`${MAP}stays`, 0, 'x')]);
    t.true(revision > 0);
    await listener.until(() => listener.of('-core/events/default/').length === 2);
    t.deepEqual([...listener.of('-core/events/default/')].sort(), [
      '-core/events/default/mine',
      '-core/events/default/theirs',
    ]);
    t.not(await world.original.get('configmaps/default/stays'), undefined);
  });

  contract("servers' leases are the original's, in both directions", async (t, world) => {
    const engine = world.engine();
    const listener = await opened(engine);
    const key = 'coordination.k8s.io/leases/kube-system/kube-apiserver-endpoint-10.0.0.7';
    const spec = { holderIdentity: '10.0.0.7', leaseDurationSeconds: 15 };
    const lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: metadataOf(key), spec };
    const { held } = await engine.commit([
      { guards: [], writes: [{ key, expect: 0, value: storedFormOf(key, lease) }], place: 0 },
    ]);
    t.deepEqual(held, [true]);
    t.like((await world.original.get('masterleases/10.0.0.7'))?.object, {
      subsets: [{ addresses: [{ ip: '10.0.0.7' }] }],
    });
    await world.original.heartbeat('10.0.0.8');
    await world.original.heartbeat('10.0.0.8');
    await listener.until(() => listener.of('endpoint-10.0.0.8').length === 2);
  });

  contract('compaction is done in turns by all, and keeps what is newest', async (t, world) => {
    const engine = world.engine();
    await opened(engine);
    let { revision } = await engine.commit([write(`${MAP}c`, 0, '0')]);
    const first = revision;
    const isKept = (): Promise<boolean> =>
      world.sound.range({ key: world.original.path('x'), revision: first }).then(
        () => true,
        () => false,
      );
    let rounds = 0;
    while (rounds < 1000 && (await isKept())) {
      await Promise.allSettled([engine.compact(), world.original.compact()]);
      revision = (await engine.commit([write(`${MAP}c`, revision, String(++rounds))])).revision;
    }
    t.true(rounds > 1 && rounds < 1000, `${rounds} rounds`);
    const late = await opened(world.engine());
    t.deepEqual(late.values.get(`${MAP}c`), { revision, text: String(rounds) });
  });

  contract('a view has the records of what services have, with their services', async (t, world) => {
    const engine = world.engine();
    await opened(engine);
    const { revision } = await engine.commit([serviceWith('core/services/default/s', '10.96.0.5', 30007)]);
    const view = engine.view(revision);
    const nextPage: typeof view.next = () => view.next().catch(() => nextPage());
    const values = new Map((await nextPage()).map(({ key, value }) => [key, objectOf(key, value)]));
    t.deepEqual(
      [...values.keys()],
      ['core/services/default/s', 'internal/clusteraddresses//10.96.0.5', 'internal/nodeports//30007'],
    );
    const { uid } = metadataOf('core/services/default/s');
    t.deepEqual(values.get('internal/nodeports//30007')?.owner, { namespace: 'default', name: 's', uid });
  });

  contract(
    'a view tells of records what was told of them: their revisions, and those that no service has',
    async (t, world) => {
      const engine = world.engine();
      const listener = await opened(engine);
      const key = 'core/services/default/s';
      const { revision } = await engine.commit([serviceWith(key, '10.96.0.5', 30007)]);
      const [service] = serviceWith(key, '10.96.0.5', 30007).writes;
      await engine.commit([{ guards: [], writes: [{ ...service!, expect: revision }], place: 0 }]);
      await engine.commit([{ guards: [], writes: serviceWith(key, '10.96.0.6', 30008).writes.slice(1), place: 0 }]);
      const last = await engine.commit([write(`${MAP}z`, 0, 'z')]);
      await listener.reach(last.revision);
      const view = engine.view(last.revision);
      const viewed = new Map<string, number>();
      const nextPage: typeof view.next = () => view.next().catch(() => nextPage());
      for (let page = await nextPage(); page.length > 0; page = await nextPage()) {
        for (const { key: viewedKey, modRevision } of page) {
          t.false(viewed.has(viewedKey), viewedKey);
          viewed.set(viewedKey, modRevision);
        }
      }
      const told = new Map<string, number>();
      for (const { revision: toldAt, events } of listener.told) {
        for (const event of events) told.set(event.split('=')[0]!, toldAt);
      }
      t.deepEqual([...viewed].sort(), [...told].sort());
      t.is(told.size, 6);
    },
  );

  contract('a view is the state at its revision, as objects of ours', async (t, world) => {
    const engine = world.engine();
    await opened(engine);
    const { revision } = await engine.commit([write(`${MAP}v`, 0, 'one')]);
    await engine.commit([write(`${MAP}v`, revision, 'two')]);
    const view = engine.view(revision);
    const nextPage: typeof view.next = () => view.next().catch(() => nextPage());
    const values = (await nextPage()).map(({ key, value }) => [key, textOf(key, value)]);
    t.deepEqual(values, [[`${MAP}v`, 'one']]);
    t.deepEqual(await nextPage(), []);
  });

  contract('a value that nobody here can read is told as such with a line that names it', async (t, world) => {
    const listener = await opened(world.engine());
    await world.original.leave('configmaps/default/broken', Buffer.from('k8s\0???'));
    await listener.until(() => listener.unread.length > 0);
    const [found] = listener.unread;
    t.is(found?.key, `${MAP}broken`);
    t.regex(String(found?.unread?.error), /configmaps\/default\/broken cannot be read/);
    t.is(listener.lost, undefined);
    // Who is not prepared for it is told nothing at all.
    await t.throwsAsync(opened(world.engine()), { message: /configmaps\/default\/broken cannot be read/ });
  });
}

/** Engines on one subject, and the original beside them. */
class World {
  readonly subject: OriginalSubject;
  readonly sound: EtcdCluster;
  readonly original: OriginalServer;
  readonly #engines: SharedEngine[] = [];

  constructor(subject: OriginalSubject) {
    this.subject = subject;
    this.sound = subject.soundClient();
    this.original = new OriginalServer(this.sound, subject.prefix);
  }

  engine(more: Partial<OriginalSettings> = {}): SharedEngine {
    const engine = engineOn(this.subject.client(), { prefix: this.subject.prefix, ...more });
    this.#engines.push(engine);
    return engine;
  }

  ownEngine(): SharedEngine {
    const { timers, warn } = settingsFor();
    const parts = { timers, warn, processId: 'own', tokenKey: new Uint8Array(32), dialect: 'kubernetes' };
    const engine = new EtcdEngine({ ...parts, cluster: this.subject.client(), prefix: this.subject.prefix });
    this.#engines.push(engine);
    return engine;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#engines.map((engine) =>
        engine.close().catch((error: unknown) => {
          if (!(error instanceof EtcdError)) throw error;
        }),
      ),
    );
    this.sound.close();
  }
}
