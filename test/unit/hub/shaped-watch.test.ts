// Watches in a shape of their own, over a real store and hub: who is told a Table's columns and when, what each event
// holds, and that plain watchers beside them still get the stored bytes.
import test from 'ava';
import { hubActor } from '../../../actors/hub/hub.ts';
import type {
  HubProtocol,
  WatchDeliveryProtocol,
  WatchDeliveryTells,
  WatchQuery,
} from '../../../actors/hub/protocol.ts';
import { EXPECT_ANY, type Operation, type StoreProtocol } from '../../../actors/store/protocol.ts';
import { storeActor } from '../../../actors/store/store.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Shape } from '../../../api/table/shape.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import type { ActorContext, ActorDefinition, MessageOf } from '../../../runtime/actor.ts';
import { createSimulation, type Simulation, whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import { type InProcess, startInProcess } from '../../../runtime/threads/in-process.ts';
import { MemoryEngine } from '../../../storage/engines/memory-engine.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { renderingOf } from '../rendering/representations.ts';

const DEADLINE = { deadlineMs: 60_000 };
const TABLE: Shape = {
  kind: 'Table',
  metaGroup: 'meta.k8s.io',
  version: 'v1',
  includeObject: 'Metadata',
  dialect: 'orch',
};

const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace' };
const TABLES = renderingOf(NAMESPACE, { shape: TABLE });

/** One event as a watcher got it. */
interface Event {
  readonly type: string;
  readonly object: JsonObject & {
    readonly metadata: { readonly resourceVersion: string };
    readonly columnDefinitions?: readonly { readonly name: string }[] | null;
    readonly rows?: readonly { readonly cells: readonly unknown[]; readonly object: JsonObject }[];
  };
}

/** Stands for the ingress: keeps what each watcher is sent, and takes every chunk at once. */
class Sockets {
  readonly texts = new Map<number, string>();
  readonly #context: ActorContext;

  constructor(context: ActorContext) {
    this.#context = context;
  }

  onMessage(message: MessageOf<WatchDeliveryProtocol>): void {
    const { chunk, watchers } = message as WatchDeliveryTells['watchFrames' | 'watchEnded'];
    for (const id of watchers) {
      this.texts.set(id, (this.texts.get(id) ?? '') + Buffer.from(chunk).toString('utf8'));
      if (message.type !== 'watchFrames' || !message.catchUp) continue;
      this.#context.ref('hub').tell<'watchReady'>({ type: 'watchReady', watcher: id });
    }
  }
}

class World {
  readonly simulation: Simulation = createSimulation(3);
  #sockets: Sockets | undefined;
  #run: InProcess | undefined;
  #nextWatcher = 1;

  static async start(): Promise<World> {
    const world = new World();
    const kinds: ActorDefinition<undefined>[] = [
      {
        ...storeActor,
        create: (context) =>
          storeActor.create(context, {
            engine: () => new MemoryEngine(Buffer.alloc(32, 1)),
            media: 'json',
            compactionIntervalMs: 0,
            healthcheckTimeoutMs: 1000,
            historyBytesMax: 1 << 20,
          }),
      },
      {
        ...hubActor,
        create: (context) =>
          hubActor.create(context, {
            selectableFields: () => ['metadata.name', 'metadata.namespace'],
            initialEventsEndAnnotation: 'orch.io/initial-events-end',
            records: new ProtobufRecords(DIALECTS.orch),
          }),
      },
      {
        actor: 'ingress',
        mailboxMax: 1000,
        stopOrder: 10,
        create: (context) => {
          world.#sockets = new Sockets(context);
          return world.#sockets;
        },
      },
    ];
    const { environment } = world.simulation;
    const starting = startInProcess({ actors: kinds, options: undefined, environment, freezeMessages: true });
    world.#run = await whileTimePasses(world.simulation.time, starting);
    return world;
  }

  async stop(): Promise<void> {
    await this.during(this.#run!.stop());
  }

  /** Opens a watch of namespaces from the present state on, or after a revision; answers its number. */
  async watch(query: Partial<WatchQuery> = {}): Promise<number> {
    const watcher = this.#nextWatcher++;
    const message = {
      type: 'watch',
      watcher,
      storageKey: 'core/namespaces',
      namespace: '',
      labelSelector: '',
      fieldSelector: '',
      afterRevision: undefined,
      freshness: { kind: 'mostRecent' },
      bookmarks: false,
      timeoutMs: 3_600_000,
      sendInitialEventsEnd: false,
      rendering: renderingOf(NAMESPACE),
      ...query,
    } as const;
    await this.during(this.#run!.ref<HubProtocol>('hub').ask<'watch'>(message, DEADLINE));
    await this.simulation.time.runUntilIdle();
    return watcher;
  }

  /** Writes a namespace; answers its revision. */
  put(name: string, phase: string, labels: Record<string, string> = {}): Promise<number> {
    const { text, revisionOffset, itemOffset } = encodeStored(
      { metadata: { name, labels }, status: { phase } },
      'v1',
      'Namespace',
    );
    const put = {
      key: `core/namespaces//${name}`,
      expect: EXPECT_ANY,
      valueOffset: 0,
      valueLength: Buffer.byteLength(text),
      revisionOffset,
      itemOffset,
      attributes: packAttributes(labels, [name, '']),
      schemaGeneration: 1,
    };
    return this.#commit(put, Buffer.from(text));
  }

  remove(name: string): Promise<number> {
    return this.#commit({ key: `core/namespaces//${name}`, expect: EXPECT_ANY, delete: true }, Buffer.alloc(0));
  }

  async #commit(operation: Operation, payload: Uint8Array): Promise<number> {
    const message = { type: 'commit', transactions: [{ operations: [operation] }], payload } as const;
    const { results } = await this.during(this.#run!.ref<StoreProtocol>('store').ask<'commit'>(message, DEADLINE));
    await this.simulation.time.runUntilIdle();
    const [result] = results;
    if (result?.ok !== true) throw new Error('the commit was refused');
    return result.revision;
  }

  during<T>(work: Promise<T>): Promise<T> {
    return whileTimePasses(this.simulation.time, work);
  }

  text(watcher: number): string {
    return this.#sockets!.texts.get(watcher) ?? '';
  }

  events(watcher: number): readonly Event[] {
    return this.text(watcher)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Event);
  }

  /** `<type> <first two cells> <resourceVersion>`, and `+columns` where the Table says what they are. */
  tables(watcher: number): readonly string[] {
    return this.events(watcher).map(({ type, object }) => {
      const [row] = object.rows!;
      const columns = object.columnDefinitions === null ? '' : ' +columns';
      return `${type} ${row!.cells.slice(0, 2).join(' ')} ${object.metadata.resourceVersion}${columns}`;
    });
  }
}

test('a watch of Tables is told the columns once, in its first event', async (t) => {
  const world = await World.start();
  await world.put('a', 'Active');
  await world.put('b', 'Active');
  const watcher = await world.watch({ rendering: TABLES });
  await world.put('c', 'Active');
  await world.put('a', 'Terminating');
  await world.remove('a');
  t.deepEqual(world.tables(watcher), [
    'ADDED a Active 1 +columns',
    'ADDED b Active 2',
    'ADDED c Active 3',
    'MODIFIED a Terminating 4',
    'DELETED a Terminating 5',
  ]);
  const [first] = world.events(watcher);
  t.deepEqual(
    first!.object.columnDefinitions?.map(({ name }) => name),
    ['Name', 'Status', 'Age'],
  );
  t.like(first!.object, { kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
  t.like(first!.object.rows![0]!.object, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
  await world.stop();
});

test('watchers that share an event are told the columns each in their own first one', async (t) => {
  const world = await World.start();
  const revision = await world.put('a', 'Active');
  const early = await world.watch({ rendering: TABLES, afterRevision: revision });
  await world.put('b', 'Active');
  const late = await world.watch({ rendering: TABLES, afterRevision: revision + 1 });
  const behind = await world.watch({ rendering: TABLES, afterRevision: revision });
  await world.put('c', 'Active');
  await world.put('d', 'Active');
  t.deepEqual(world.tables(early), ['ADDED b Active 2 +columns', 'ADDED c Active 3', 'ADDED d Active 4']);
  t.deepEqual(world.tables(late), ['ADDED c Active 3 +columns', 'ADDED d Active 4']);
  t.deepEqual(world.tables(behind), world.tables(early));
  await world.stop();
});

test('a plain watcher beside them gets the bytes as they are stored', async (t) => {
  const world = await World.start();
  const plain = await world.watch();
  const table = await world.watch({ rendering: TABLES });
  await world.put('a', 'Active');
  t.true(world.text(plain).startsWith('{"type":"ADDED","object":{"kind":"Namespace","apiVersion":"v1","metadata":{'));
  // The blanks behind the version are the store's: nothing was encoded again.
  t.regex(world.text(plain), /"resourceVersion":"1" {2,}/);
  t.deepEqual(world.tables(table), ['ADDED a Active 1 +columns']);
  await world.stop();
});

test('an object that leaves the selection is shown with the revision at which it left', async (t) => {
  const world = await World.start();
  await world.put('a', 'Active', { app: 'web' });
  const watcher = await world.watch({ rendering: TABLES, labelSelector: 'app=web' });
  await world.put('a', 'Terminating', { app: 'db' });
  t.deepEqual(world.tables(watcher), ['ADDED a Active 1 +columns', 'DELETED a Active 2']);
  const { rows } = world.events(watcher)[1]!.object;
  t.like(rows![0]!.object, { metadata: { resourceVersion: '2', labels: { app: 'web' } } });
  await world.stop();
});

test('a watch of partial metadata leaves the rest of each object out', async (t) => {
  const world = await World.start();
  const shape: Shape = { ...TABLE, kind: 'PartialObjectMetadata', version: 'v1beta1' };
  await world.put('a', 'Active', { app: 'web' });
  const watcher = await world.watch({ rendering: renderingOf(NAMESPACE, { shape }) });
  await world.put('a', 'Terminating');
  t.deepEqual(
    world.events(watcher).map(({ type, object }) => [type, object]),
    [
      ['ADDED', { name: 'a', resourceVersion: '1', labels: { app: 'web' } }],
      ['MODIFIED', { name: 'a', resourceVersion: '2', labels: {} }],
    ].map(([type, metadata]) => [
      type as string,
      { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1', metadata } as unknown as Event['object'],
    ]),
  );
  await world.stop();
});

test('bookmarks come in the shape of the watch, and can be what says the columns', async (t) => {
  const world = await World.start();
  const revision = await world.put('a', 'Active');
  const quiet = { rendering: TABLES, bookmarks: true, timeoutMs: 5000 };
  const ending = await world.watch({ ...quiet, afterRevision: revision });
  const marked = await world.watch({ ...quiet, labelSelector: 'app=web', sendInitialEventsEnd: true });
  await world.simulation.time.advance(6000);
  for (const watcher of [ending, marked]) {
    const [first, ...rest] = world.events(watcher);
    t.is(first!.type, 'BOOKMARK');
    t.is(first!.object.kind, 'Table');
    t.is(first!.object.metadata.resourceVersion, String(revision));
    t.is(first!.object.columnDefinitions?.length, 3);
    for (const { object } of rest) t.is(object.columnDefinitions, null);
  }
  t.like(world.events(marked)[0]!.object.rows![0]!.object, {
    metadata: { annotations: { 'orch.io/initial-events-end': 'true' } },
  });
  await world.stop();
});
