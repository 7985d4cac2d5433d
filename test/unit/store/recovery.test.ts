import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { recover } from '../../../actors/store/log/recovery.ts';
import { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import { EXPECT_ANY } from '../../../actors/store/protocol.ts';
import type { OrchError } from '../../../runtime/errors.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { isSealedValue } from '../../../storage/encryption/sealed-value.ts';
import type { EngineContents, LocalEngine } from '../../../storage/engines/local-engine.ts';
import { MemoryEngine } from '../../../storage/engines/memory-engine.ts';
import { LevelEngine } from '../../../storage/level/level-engine.ts';
import { EventRecordWriter, readEventRecord } from '../../../storage/records/event-log.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { casesOf } from '../../server/effort.ts';
import { encryption, keyed } from '../storage/encryption/encryption-world.ts';
import { RandomStore, type RandomStoreOptions } from './random-store.ts';
import { differences, MessageWriter, StoreModel } from './store-model.ts';

const RESTARTS = casesOf(15);
const RUNS = [
  { seed: 11, slabBytes: 2048, keys: 12, media: 'protobuf', valueBytesMax: 1500 },
  { seed: 12, slabBytes: 8192, keys: 80, media: 'json', valueBytesMax: 20_000 },
  { seed: 13, slabBytes: 65_536, keys: 400, media: 'protobuf', valueBytesMax: 100_000 },
] as const;

for (const { seed, ...options } of RUNS) {
  test(`a store reopened again and again has the same state and history, and goes on (seed ${seed})`, async (t) => {
    const random = new SeededRandom(seed);
    const store = new RandomStore(random, new MemoryEngine(new Uint8Array(32)), options);
    for (let restart = 1; restart <= RESTARTS; restart++) {
      for (let steps = random.below(40); steps > 0; steps--) await store.step();
      await store.restart();
      t.deepEqual([...store.problems, ...differences(store.log, store.pool, store.model)], [], `restart ${restart}`);
    }
    t.true(store.model.revision > 12 * RESTARTS);
    t.true(store.model.compactedRevision > 0);
  });
}

test('batches that the disk refused leave no trace, in memory or on disk', async (t) => {
  const random = new SeededRandom(17);
  const options = { slabBytes: 4096, keys: 30, media: 'protobuf', valueBytesMax: 9000, isRefused: true } as const;
  const store = new RandomStore(random, new MemoryEngine(new Uint8Array(32)), options);
  for (let restart = 1; restart <= 20; restart++) {
    for (let steps = 30; steps > 0; steps--) await store.step();
    t.deepEqual([...store.problems, ...differences(store.log, store.pool, store.model)], [], `before ${restart}`);
    await store.restart();
    t.deepEqual([...store.problems, ...differences(store.log, store.pool, store.model)], [], `restart ${restart}`);
  }
  t.true(store.model.revision > 300);
});

for (const kind of ['aescbc', 'aesgcm', 'secretbox'] as const) {
  test(`an encrypted store reopened again and again has the same state and history (${kind})`, async (t) => {
    const encrypted = encryption([keyed(kind, 'a', 1)], { resource: 'pods' });
    const options = {
      slabBytes: 8192,
      keys: 30,
      media: 'protobuf',
      valueBytesMax: 5000,
      encryption: encrypted,
    } as const;
    const engine = new MemoryEngine(new Uint8Array(32));
    const store = new RandomStore(new SeededRandom(19), engine, options);
    for (let restart = 1; restart <= 10; restart++) {
      for (let steps = 30; steps > 0; steps--) await store.step();
      await store.restart();
      t.deepEqual([...store.problems, ...differences(store.log, store.pool, store.model)], [], `restart ${restart}`);
      t.false(store.log.hasStaleHistory);
    }
    await engine.loadValues((key, value) => t.is(isSealedValue(value), key.startsWith('core/pods/'), key));
    const pool = new SlabPool(8192, new SharedState());
    await t.throwsAsync(async () => recover(new RevisionLog(pool, 'protobuf'), pool, engine, await engine.open()), {
      message: /is encrypted with orch:enc:\w+:v1:a:, and --encryption-provider-config has no such provider$/,
    });
  });
}

test('a store on disk reopened again and again has the same state and history', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'recovery-'));
  t.teardown(() => rm(directory, { recursive: true }));
  const random = new SeededRandom(21);
  const level = new ReopenedLevelEngine(directory);
  const store = new RandomStore(random, level, { slabBytes: 8192, keys: 30, media: 'protobuf', valueBytesMax: 9000 });
  await level.open();
  for (let restart = 1; restart <= 8; restart++) {
    for (let steps = 30; steps > 0; steps--) await store.step();
    await store.restart();
    t.deepEqual([...store.problems, ...differences(store.log, store.pool, store.model)], [], `restart ${restart}`);
  }
  t.true(store.model.compactedRevision > 0);
  await level.close();
});

/** What a restart changes in the form that values are written in. */
const OTHER_FORMS: Readonly<Record<string, readonly Partial<RandomStoreOptions>[]>> = {
  'another media type': [{ media: 'protobuf' }, { media: 'json' }],
  'another version of the objects': [
    { currentVersion: (_key, value) => ({ ...value, schemaGeneration: value.schemaGeneration + 1 }) },
  ],
  'encryption, and without again': [
    { encryption: encryption([keyed('aesgcm', 'a', 1), { kind: 'identity' }], { resource: 'pods' }) },
    { encryption: encryption([{ kind: 'identity' }, keyed('aesgcm', 'a', 1)], { resource: 'pods' }) },
  ],
};

for (const [what, changes] of Object.entries(OTHER_FORMS)) {
  test(`a store reopened with ${what} keeps everything, and all its history`, async (t) => {
    const engine = new MemoryEngine(new Uint8Array(32));
    const options: RandomStoreOptions = { slabBytes: 4096, keys: 20, valueBytesMax: 1000, media: 'json' };
    const store = new RandomStore(new SeededRandom(31), engine, options);
    let deltas = 0;
    // Few steps in between, so that the history reaches back beyond several starts.
    for (let restart = 0; restart < 60; restart++) {
      for (let steps = 8; steps > 0; steps--) await store.step();
      Object.assign(options, changes[restart % changes.length]);
      await engine.loadEvents((bytes) => {
        deltas += readEventRecord(bytes)!.events.filter(({ isDelta }) => isDelta).length;
      });
      await store.restart();
      t.deepEqual([...store.problems, ...differences(store.log, store.pool, store.model)], [], `restart ${restart}`);
    }
    t.true(deltas > 50, `${deltas} told by what was written`);
  });
}

test('a new store is empty', async (t) => {
  const { log, pool } = await reopened(new MemoryEngine(new Uint8Array(32)));
  t.deepEqual(differences(log, pool, new StoreModel()), []);
});

test('the times of commits come back, for compaction by age', async (t) => {
  const { engine } = await smallStore();
  const pool = new SlabPool(4096, new SharedState());
  const log = new RevisionLog(pool, 'json');
  const times = await recover(log, pool, engine, await engine.open());
  t.deepEqual(times.at(0), { revision: 4, wallMs: 1004 });
  t.deepEqual(times.at(-1), { revision: 9, wallMs: 1009 });
});

// Damage. What the engine gives back is changed in every way an engine may lose or alter things; each must be noticed.

interface Held {
  contents: EngineContents;
  values: Map<string, Uint8Array>;
  events: Uint8Array[];
}

/** An engine that gives back what it was told to. */
class FixedEngine implements LocalEngine {
  readonly #held: Held;

  constructor(held: Held) {
    this.#held = held;
  }

  async open(): Promise<EngineContents> {
    return this.#held.contents;
  }

  async loadValues(visit: (key: string, value: Uint8Array) => void): Promise<void> {
    for (const [key, value] of this.#held.values) visit(key, value);
  }

  async loadEvents(visit: (events: Uint8Array) => void): Promise<void> {
    for (const events of this.#held.events) visit(events);
  }

  commit = neverAsked;
  compact = neverAsked;
  probe = neverAsked;
  diskBytes = neverAsked;
  view(): never {
    throw new Error('recovery does not ask for this');
  }
  async close(): Promise<void> {}
}

async function neverAsked(): Promise<never> {
  throw new Error('recovery does not ask for this');
}

/** LevelDB handles open once: each `open` makes another on the same directory. */
class ReopenedLevelEngine implements LocalEngine {
  readonly #directory: string;
  #engine: LevelEngine;

  constructor(directory: string) {
    this.#directory = directory;
    this.#engine = this.#make();
  }

  open(): Promise<EngineContents> {
    this.#engine = this.#make();
    return this.#engine.open();
  }

  loadValues: LocalEngine['loadValues'] = (visit) => this.#engine.loadValues(visit);
  loadEvents: LocalEngine['loadEvents'] = (visit) => this.#engine.loadEvents(visit);
  commit: LocalEngine['commit'] = (batch) => this.#engine.commit(batch);
  compact: LocalEngine['compact'] = (upToRevision) => this.#engine.compact(upToRevision);
  probe: LocalEngine['probe'] = () => this.#engine.probe();
  view: LocalEngine['view'] = () => this.#engine.view();
  diskBytes: LocalEngine['diskBytes'] = () => this.#engine.diskBytes();
  close: LocalEngine['close'] = () => this.#engine.close();

  #make(): LevelEngine {
    return new LevelEngine({ directory: this.#directory, prefix: '/registry', dialect: 'orch' });
  }
}

async function reopened(engine: LocalEngine): Promise<{ log: RevisionLog; pool: SlabPool }> {
  const pool = new SlabPool(4096, new SharedState());
  const log = new RevisionLog(pool, 'json');
  await recover(log, pool, engine, await engine.open());
  return { log, pool };
}

const A = 'core/pods/default/a';
const B = 'core/pods/default/b';
const GONE = 'core/pods/default/gone';

/** Nine revisions over three keys in seven batches, compacted to 3, the state after each batch kept. */
async function smallStore(): Promise<{ engine: MemoryEngine; states: readonly Held[]; model: StoreModel }> {
  const engine = new MemoryEngine(new Uint8Array(32));
  const pool = new SlabPool(4096, new SharedState());
  const log = new RevisionLog(pool, 'json');
  const model = new StoreModel();
  const states: Held[] = [];
  const batch = async (...builds: readonly ((writer: MessageWriter) => void)[]) => {
    const writer = new MessageWriter();
    for (const build of builds) build(writer);
    const firstRevision = log.revision + 1;
    log.begin();
    for (const transaction of writer.transactions) {
      model.apply(transaction, writer.payload);
      log.apply(transaction, writer.payload);
    }
    await engine.commit(log.finish(firstRevision, 1000 + log.revision)!);
    states.push(await heldBy(engine));
  };
  await batch((w) => w.transaction([w.put(A, EXPECT_ANY, 'a1')]));
  await batch(
    (w) => w.transaction([w.put(B, EXPECT_ANY, 'b1', 'x')]),
    (w) => w.transaction([w.put(GONE, EXPECT_ANY, 'g1')]),
  );
  await batch((w) => w.transaction([w.put(A, EXPECT_ANY, 'a2')]));
  await batch((w) => w.transaction([w.remove(GONE, EXPECT_ANY)]));
  await batch(
    (w) => w.transaction([w.put(GONE, EXPECT_ANY, 'g2')]),
    (w) => w.transaction([w.put(B, EXPECT_ANY, 'b2')]),
  );
  await batch((w) => w.transaction([w.remove(GONE, EXPECT_ANY)]));
  await engine.compact(3);
  model.compact(3);
  await batch((w) => w.transaction([w.put(A, EXPECT_ANY, 'a3', 'y')]));
  return { engine, states, model };
}

async function heldBy(engine: LocalEngine): Promise<Held> {
  const held: Held = { contents: await engine.open(), values: new Map(), events: [] };
  await engine.loadValues((key, value) => held.values.set(key, Uint8Array.from(value)));
  await engine.loadEvents((events) => held.events.push(Uint8Array.from(events)));
  return held;
}

function copyOf(held: Held): Held {
  return {
    contents: { ...held.contents },
    values: new Map([...held.values].map(([key, value]) => [key, Uint8Array.from(value)])),
    events: held.events.map((events) => Uint8Array.from(events)),
  };
}

/** The one line with which such contents are refused; undefined when they are accepted. */
async function refusalOf(held: Held): Promise<string | undefined> {
  try {
    await reopened(new FixedEngine(held));
    return undefined;
  } catch (error) {
    const { code, message } = error as OrchError;
    return code === 'StoreUnusable' && !message.includes('\n') ? message : `not a refusal: ${String(error)}`;
  }
}

interface Damage {
  readonly what: string;
  /** Every way of doing it, on copies of the final state. `states` are those after each batch. */
  readonly ways: (states: readonly Held[]) => Held[];
  readonly message: RegExp;
}

/** One copy of the final state for each of these, changed. */
function each<T>(
  states: readonly Held[],
  over: (final: Held) => Iterable<T>,
  change: (copy: Held, one: T) => void,
): Held[] {
  const final = states.at(-1)!;
  return [...over(final)].map((one) => {
    const copy = copyOf(final);
    change(copy, one);
    return copy;
  });
}

function* bytesOf(values: Iterable<[string | number, Uint8Array]>): Generator<[string | number, number]> {
  for (const [where, bytes] of values) for (let at = 0; at < bytes.length; at++) yield [where, at];
}

const noMarker = (held: Held): void => {
  held.contents = { ...held.contents, markedRevision: 0 };
};

const DAMAGES: readonly Damage[] = [
  {
    what: 'a lost value',
    ways: (states) =>
      each(
        states,
        ({ values }) => values.keys(),
        (copy, key) => copy.values.delete(key),
      ),
    message: /there must be 2 objects at revision 9, 1 were found$/,
  },
  {
    what: 'any changed byte of a value',
    ways: (states) =>
      each(
        states,
        ({ values }) => bytesOf(values),
        (copy, [key, at]) => {
          copy.values.get(key as string)![at]! ^= 0x10;
        },
      ),
    message: /the value of core\/pods\/default\/[ab] does not match its checksum$/,
  },
  {
    what: 'a value cut short',
    ways: (states) =>
      each(
        states,
        ({ values }) => values.keys(),
        (copy, key) => copy.values.set(key, copy.values.get(key)!.subarray(0, -1)),
      ),
    message: /does not match its checksum$/,
  },
  {
    what: 'two values that changed places',
    ways: (states) =>
      each(
        states,
        () => [0],
        ({ values }) => {
          const a = values.get(A)!;
          values.set(A, values.get(B)!);
          values.set(B, a);
        },
      ),
    message: /does not match its checksum$/,
  },
  {
    what: 'an earlier version of a value',
    ways: (states) =>
      each(
        states,
        () => [states[0]!.values.get(A)!, states[2]!.values.get(A)!],
        (copy, value) => copy.values.set(A, value),
      ),
    message: /the objects are not those of revision 9$/,
  },
  {
    what: 'a removed object that is back',
    ways: (states) =>
      each(
        states,
        () => [states[1]!, states[4]!],
        (copy, { values }) => copy.values.set(GONE, values.get(GONE)!),
      ),
    message: /there must be 2 objects at revision 9, 3 were found$/,
  },
  {
    what: 'any changed byte of an event record',
    ways: (states) =>
      each(
        states,
        ({ events }) => bytesOf(events.entries()),
        (copy, [index, at]) => {
          copy.events[index as number]![at]! ^= 0x04;
        },
      ),
    message: /the event record after revision \d+ does not match its checksum$/,
  },
  {
    what: 'an event record cut short',
    ways: (states) =>
      each(
        states,
        ({ events }) => events.keys(),
        (copy, index) => {
          copy.events[index] = copy.events[index]!.subarray(0, -1);
        },
      ),
    message: /does not match its checksum$/,
  },
  {
    what: 'a lost event record that others follow',
    ways: (states) =>
      each(
        states,
        ({ events }) => [...events.keys()].slice(0, -1),
        (copy, index) => copy.events.splice(index, 1),
      ),
    message: /events \d to \d are missing$/,
  },
  {
    what: 'a lost tail of event records',
    ways: (states) =>
      each(
        states,
        ({ events }) => events.keys(),
        (copy, index) => copy.events.splice(index),
      ),
    message: /events \d to 9 were acknowledged and are missing$/,
  },
  {
    what: 'a lost tail of event records without a marker to tell',
    ways: (states) =>
      each(
        states,
        ({ events }) => events.keys(),
        (copy, index) => {
          copy.events.splice(index);
          noMarker(copy);
        },
      ),
    message: /there are objects but no event record|there must be|the objects are not those|no event record is left/,
  },
  {
    what: 'a return to an earlier state, values and events alike',
    ways: (states) =>
      states.slice(0, -1).map((state) => {
        const copy = copyOf(state);
        copy.contents = { ...copy.contents, markedRevision: 9 };
        return copy;
      }),
    message: /events \d to 9 were acknowledged and are missing$/,
  },
  {
    what: 'everything lost',
    ways: (states) =>
      each(
        states,
        () => [0],
        (copy) => {
          copy.values.clear();
          copy.events = [];
          copy.contents = { ...copy.contents, compactedRevision: 0 };
        },
      ),
    message: /events 1 to 9 were acknowledged and are missing$/,
  },
  {
    what: 'everything lost but what was compacted',
    ways: (states) =>
      each(
        states,
        () => [0],
        (copy) => {
          copy.values.clear();
          copy.events = [];
          noMarker(copy);
        },
      ),
    message: /no event record is left/,
  },
  {
    what: 'a record that is there twice',
    ways: (states) =>
      each(
        states,
        ({ events }) => events.keys(),
        (copy, index) => copy.events.splice(index, 0, copy.events[index]!),
      ),
    message: /is there twice|does not follow the one before it|are missing/,
  },
  {
    what: 'two records that changed places',
    ways: (states) =>
      each(
        states,
        () => [0],
        ({ events }) => events.reverse(),
      ),
    message: /are missing$/,
  },
  {
    what: 'a compacted revision that is too low',
    ways: (states) =>
      each(
        states,
        () => [0, 1, 2],
        (copy, compactedRevision) => {
          copy.contents = { ...copy.contents, compactedRevision };
        },
      ),
    message: /events \d to 3 are missing$/,
  },
];

for (const { what, ways, message } of DAMAGES) {
  test(`refused as damaged: ${what}`, async (t) => {
    const { states } = await smallStore();
    t.is(await refusalOf(states.at(-1)!), undefined, 'undamaged, it opens');
    const damaged = ways(states);
    t.true(damaged.length > 0);
    for (const [index, held] of damaged.entries()) {
      const refusal = await refusalOf(held);
      t.true(refusal?.startsWith('the store is damaged: '), `way ${index}: ${refusal}`);
      t.regex(refusal!, message);
    }
  });
}

test('a record of another history is refused, although it is whole and continues the revisions', async (t) => {
  const { states } = await smallStore();
  const held = copyOf(states.at(-1)!);
  const writer = new EventRecordWriter();
  writer.begin();
  writer.add(10, 2, A, Buffer.from(held.values.get(A)!), 5);
  const head = { firstRevision: 10, lastRevision: 10, wallMs: 0, liveObjects: 2, liveDigest: 0 };
  held.events.push(Uint8Array.from(writer.finish({ ...head, previousChecksum: 12_345 }).bytes));
  t.regex((await refusalOf(held))!, /the event record at revision 10 does not follow the one before it$/);
});

test('a value of another history is refused, although it is whole and has the right revision', async (t) => {
  const { states } = await smallStore();
  const pool = new SlabPool(4096, new SharedState());
  const log = new RevisionLog(pool, 'json');
  log.revision = 8;
  const writer = new MessageWriter();
  writer.transaction([writer.put(A, EXPECT_ANY, 'other', 'y')]);
  log.begin();
  log.apply(writer.transactions[0]!, writer.payload);
  const held = copyOf(states.at(-1)!);
  held.values.set(A, Uint8Array.from(log.finish(9, 0)!.writes[0]!.value!));
  t.is(await refusalOf(held), `the store is damaged: the value of ${A} is not the one written at revision 9`);
});
