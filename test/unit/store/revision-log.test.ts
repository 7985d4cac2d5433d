import test from 'ava';
import { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import { EXPECT_ABSENT, EXPECT_ANY, type Guard, type Operation } from '../../../actors/store/protocol.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { MemoryEngine } from '../../../storage/engines/memory-engine.ts';
import { readStoredValue } from '../../../storage/forms/stored-value.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { casesOf } from '../../server/effort.ts';
import { RandomStore } from './random-store.ts';
import { differences, MessageWriter, message, StoreModel } from './store-model.ts';

const A = 'core/pods/default/a';
const B = 'core/pods/default/b';
const C = 'core/nodes//c';

interface Rig {
  readonly pool: SlabPool;
  readonly log: RevisionLog;
  readonly model: StoreModel;
  /** Applies one transaction as a batch of its own. */
  apply(build: (writer: MessageWriter) => { operations: readonly Operation[]; guards?: readonly Guard[] }): unknown;
  /** What differs from the model. */
  differences(): string[];
}

function rig(slabBytes = 4096): Rig {
  const pool = new SlabPool(slabBytes, new SharedState());
  const log = new RevisionLog(pool, 'protobuf');
  const model = new StoreModel();
  return {
    pool,
    log,
    model,
    apply(build) {
      const { transaction, payload } = message(build);
      model.apply(transaction, payload);
      const firstRevision = log.revision + 1;
      log.begin();
      const { places: _, ...result } = { places: [], ...log.apply(transaction, payload) };
      log.finish(firstRevision, 0);
      return result;
    },
    differences: () => differences(log, pool, model),
  };
}

test('a created object has its revision as birth, an update keeps the birth, a removal the last value', (t) => {
  const { apply, log, differences } = rig();
  t.deepEqual(
    apply((w) => ({ operations: [w.put(A, EXPECT_ABSENT, 'one')] })),
    { ok: true, revision: 1 },
  );
  t.deepEqual(
    apply((w) => ({ operations: [w.put(B, EXPECT_ABSENT, 'other')] })),
    { ok: true, revision: 2 },
  );
  t.deepEqual(
    apply((w) => ({ operations: [w.put(A, 1, 'two')] })),
    { ok: true, revision: 3 },
  );
  t.deepEqual(
    apply((w) => ({ operations: [w.remove(A, 3)] })),
    { ok: true, revision: 4 },
  );
  t.deepEqual(
    apply((w) => ({ operations: [w.put(A, EXPECT_ABSENT, 'again')] })),
    { ok: true, revision: 5 },
  );
  t.is(log.current.get(A)?.bornRevision, 5);
  t.deepEqual(differences(), []);
});

interface RefusalCase {
  readonly what: string;
  readonly build: (writer: MessageWriter) => { operations: readonly Operation[]; guards?: readonly Guard[] };
  readonly reason: string;
  readonly key: string;
  readonly currentRevision: number;
}

/** A is at revision 1, B at revision 2 and C absent. */
const REFUSALS: readonly RefusalCase[] = [
  {
    what: 'creating what exists',
    build: (w) => ({ operations: [w.put(A, EXPECT_ABSENT, '')] }),
    reason: 'exists',
    key: A,
    currentRevision: 1,
  },
  {
    what: 'updating what has changed',
    build: (w) => ({ operations: [w.put(B, 1, '')] }),
    reason: 'changed',
    key: B,
    currentRevision: 2,
  },
  {
    what: 'updating what is absent',
    build: (w) => ({ operations: [w.put(C, 1, '')] }),
    reason: 'missing',
    key: C,
    currentRevision: 0,
  },
  {
    what: 'removing what has changed',
    build: (w) => ({ operations: [w.remove(A, 2)] }),
    reason: 'changed',
    key: A,
    currentRevision: 1,
  },
  {
    what: 'removing what is absent',
    build: (w) => ({ operations: [w.remove(C, 1)] }),
    reason: 'missing',
    key: C,
    currentRevision: 0,
  },
  {
    what: 'removing anything where nothing is',
    build: (w) => ({ operations: [w.remove(C, EXPECT_ANY)] }),
    reason: 'missing',
    key: C,
    currentRevision: 0,
  },
  {
    what: 'removing what is expected to be absent',
    build: (w) => ({ operations: [w.remove(C, EXPECT_ABSENT)] }),
    reason: 'missing',
    key: C,
    currentRevision: 0,
  },
  {
    what: 'a guard on what has changed',
    build: (w) => ({ operations: [w.put(C, 0, '')], guards: [{ key: A, expect: 7 }] }),
    reason: 'guard',
    key: A,
    currentRevision: 1,
  },
  {
    what: 'a guard on what has gone',
    build: (w) => ({ operations: [w.put(A, 1, '')], guards: [{ key: C, expect: 3 }] }),
    reason: 'guard',
    key: C,
    currentRevision: 0,
  },
  {
    what: 'a guard on what has come',
    build: (w) => ({ operations: [w.put(A, 1, '')], guards: [{ key: B, expect: EXPECT_ABSENT }] }),
    reason: 'guard',
    key: B,
    currentRevision: 2,
  },
  {
    what: 'a guard that fails before an expectation',
    build: (w) => ({ operations: [w.put(A, 9, '')], guards: [{ key: B, expect: 9 }] }),
    reason: 'guard',
    key: B,
    currentRevision: 2,
  },
  {
    what: 'the second of two operations',
    build: (w) => ({ operations: [w.put(C, EXPECT_ABSENT, ''), w.remove(A, 9)] }),
    reason: 'changed',
    key: A,
    currentRevision: 1,
  },
  {
    what: 'a key named twice',
    build: (w) => ({ operations: [w.put(C, EXPECT_ABSENT, ''), w.put(C, EXPECT_ABSENT, '')] }),
    reason: 'changed',
    key: C,
    currentRevision: 0,
  },
  {
    what: 'a key removed twice',
    build: (w) => ({ operations: [w.remove(A, 1), w.remove(A, 1)] }),
    reason: 'changed',
    key: A,
    currentRevision: 1,
  },
];

for (const { what, build, ...refusal } of REFUSALS) {
  test(`${what} is refused and changes nothing`, (t) => {
    const { apply, log, pool, model } = rig();
    apply((w) => ({ operations: [w.put(A, EXPECT_ABSENT, 'a')] }));
    apply((w) => ({ operations: [w.put(B, EXPECT_ABSENT, 'b')] }));
    const { transaction, payload } = message(build);
    log.begin();
    t.deepEqual(log.apply(transaction, payload), { ok: false, ...refusal } as never);
    t.is(log.finish(3, 0), undefined);
    t.deepEqual(differences(log, pool, model), []);
  });
}

test('guards that hold, and expectations of anything, let a transaction pass', (t) => {
  const { apply, differences } = rig();
  apply((w) => ({ operations: [w.put(A, EXPECT_ANY, 'a')] }));
  const guards = [
    { key: A, expect: 1 },
    { key: C, expect: EXPECT_ABSENT },
    { key: 'never/heard//of', expect: EXPECT_ANY },
  ];
  t.deepEqual(
    apply((w) => ({ operations: [w.put(B, EXPECT_ANY, 'b')], guards })),
    { ok: true, revision: 2 },
  );
  t.deepEqual(
    apply((w) => ({ operations: [w.remove(A, EXPECT_ANY), w.put(C, EXPECT_ANY, 'c')] })),
    { ok: true, revision: 3 },
  );
  t.deepEqual(differences(), []);
});

test('a transaction of guards alone commits nothing and says where the store is', (t) => {
  const { log, apply } = rig();
  apply((w) => ({ operations: [w.put(A, EXPECT_ANY, 'a')] }));
  log.begin();
  t.deepEqual(log.apply({ operations: [], guards: [{ key: A, expect: 1 }] }, new Uint8Array()), {
    ok: true,
    revision: 1,
    places: [],
  });
  t.is(log.finish(2, 0), undefined);
});

test('operations of one transaction share a revision and come back in order', (t) => {
  const { log, pool } = rig();
  const { transaction, payload } = message((w) => ({
    operations: [w.put(A, 0, 'a'), w.put(C, 0, 'c'), w.put(B, 0, 'b')],
  }));
  log.begin();
  const result = log.apply(transaction, payload);
  const batch = log.finish(1, 0)!;
  t.true(result.ok);
  if (!result.ok) return;
  t.deepEqual(
    result.places.map(({ revision, slab, offset }) => [
      revision,
      pool.slab(slab).bytes.includes(Buffer.from('"resourceVersion":"1"'), offset),
    ]),
    [
      [1, true],
      [1, true],
      [1, true],
    ],
  );
  t.deepEqual(
    result.places.map(({ revision, slab, offset }) => ({ revision, slab, offset })),
    [A, C, B].map((key) => {
      const { revision, slab, offset } = log.current.get(key)!;
      return { revision, slab, offset };
    }),
  );
  t.deepEqual([batch.firstRevision, batch.lastRevision, batch.runs[2]], [1, 1, 3]);
});

test('transactions of one batch see each other', (t) => {
  const { log, pool, model } = rig();
  const writer = new MessageWriter();
  writer.transaction([writer.put(A, EXPECT_ABSENT, 'one')]);
  writer.transaction([writer.put(A, EXPECT_ABSENT, 'two')]);
  writer.transaction([writer.put(A, 1, 'three')]);
  writer.transaction([writer.put(B, EXPECT_ABSENT, 'b')], [{ key: A, expect: 1 }]);
  writer.transaction([writer.remove(A, 2)]);
  writer.transaction([writer.put(A, EXPECT_ABSENT, 'four')]);
  const { payload } = writer;
  log.begin();
  const answers = writer.transactions.map((transaction) => {
    model.apply(transaction, payload);
    const result = log.apply(transaction, payload);
    return result.ok ? result.revision : `${result.reason} ${result.currentRevision}`;
  });
  const batch = log.finish(1, 0)!;
  t.deepEqual(answers, [1, 'exists 1', 2, 'guard 2', 3, 4]);
  t.deepEqual([batch.firstRevision, batch.lastRevision], [1, 4]);
  t.deepEqual(differences(log, pool, model), []);
  // The engine applies writes in order: the last one to a key is what is there.
  t.deepEqual(
    batch.writes.map(({ key, value }) => [key, value && readStoredValue(key, value)?.revision]),
    [
      [A, 1],
      [A, 2],
      [A, undefined],
      [A, 4],
    ],
  );
});

test('what is put and then removed has its last state in an event of its own, in the same batch', (t) => {
  const { log, pool, model, apply, differences: differ } = rig();
  apply((w) => ({ operations: [w.put(A, EXPECT_ABSENT, 'one')] }));
  const writer = new MessageWriter();
  writer.transaction([writer.put(A, 1, 'ending'), writer.put(B, EXPECT_ABSENT, 'stays')], undefined, [A]);
  const [transaction] = writer.transactions;
  model.apply(transaction!, writer.payload);
  log.begin();
  const result = log.apply(transaction!, writer.payload);
  const batch = log.finish(2, 0)!;
  t.true(result.ok);
  t.is(result.ok && result.revision, 2);
  t.deepEqual([batch.firstRevision, batch.lastRevision], [2, 3]);
  t.deepEqual(differences(log, pool, model), []);
  t.deepEqual(differ(), []);
  // Its last state is in the events, and is not written as a value first.
  t.deepEqual(
    batch.writes.map(({ key, value }) => [key, value === undefined]),
    [
      [B, false],
      [A, true],
    ],
  );
  t.deepEqual(
    model.events.slice(1).map(({ version: { key, revision, data } }) => [key, revision, data]),
    [
      [A, 2, 'ending'],
      [B, 2, 'stays'],
      [A, 3, 'ending'],
    ],
  );
  // Refused as a whole: the removal is never made by itself.
  const late = new MessageWriter();
  late.transaction([late.put(B, 1, 'late')], undefined, [B]);
  t.false(log.apply(late.transactions[0]!, late.payload).ok);
  t.true(log.current.has(B));
});

test('compaction forgets events up to a revision and keeps what later events replaced', (t) => {
  const { apply, log, model, differences } = rig();
  for (let round = 0; round < 5; round++)
    apply((w) => ({ operations: [w.put(A, EXPECT_ANY, `a${round}`), w.put(B, EXPECT_ANY, `b${round}`)] }));
  apply((w) => ({ operations: [w.remove(A, EXPECT_ANY)] }));
  for (const upTo of [0, 2, 2, 1, 5, 6, 6]) {
    log.compact(upTo);
    model.compact(upTo);
    t.deepEqual(differences(), [], `after ${upTo}`);
  }
  t.is(log.window.length, 0);
  t.is(log.window.bytes, 0);
});

test('compaction to a revision that does not exist yet forgets the present events and no future ones', (t) => {
  const { apply, log, model, differences } = rig();
  apply((w) => ({ operations: [w.put(A, EXPECT_ANY, 'a')] }));
  log.compact(100);
  model.compact(1);
  t.is(log.compactedRevision, 1);
  apply((w) => ({ operations: [w.put(A, EXPECT_ANY, 'b')] }));
  t.is(log.window.length, 1);
  t.deepEqual(differences(), []);
});

test('the window is compacted to its bounds, whole revisions at a time and no further than needed', (t) => {
  const { apply, log } = rig();
  for (let round = 0; round < 10; round++) {
    apply((w) => ({ operations: [w.put(A, EXPECT_ANY, 'x'.repeat(100)), w.put(B, EXPECT_ANY, 'y')] }));
  }
  t.is(log.window.length, 20);
  t.is(log.window.revisionForBounds(Number.MAX_SAFE_INTEGER, 20), 0);
  t.is(log.window.revisionForBounds(Number.MAX_SAFE_INTEGER, 19), 1);
  t.is(log.window.revisionForBounds(Number.MAX_SAFE_INTEGER, 18), 1);
  t.is(log.window.revisionForBounds(Number.MAX_SAFE_INTEGER, 1), 10);
  t.is(log.window.revisionForBounds(0, 1000), 10);
  const { bytes: historyBytes } = log.window;
  t.is(log.window.revisionForBounds(historyBytes, 1000), 0);
  const target = log.window.revisionForBounds(historyBytes - 1, 1000);
  log.compact(target);
  t.true(log.window.bytes < historyBytes);
  t.is(target, 2, 'the first revision created both, which keeps nothing');
});

test('moving records out of a slab keeps the state, and the history events that name them', (t) => {
  const { apply, log, pool, model, differences } = rig(2048);
  for (let round = 0; round < 6; round++) {
    apply((w) => ({
      operations: [w.put(A, EXPECT_ANY, `${round}`.padEnd(200)), w.put(`core/nodes//n${round}`, EXPECT_ANY, 'z')],
    }));
  }
  apply((w) => ({ operations: [w.remove('core/nodes//n0', EXPECT_ANY)] }));
  const usedBefore = [...log.current.values()].map(({ slab }) => slab);
  t.true(usedBefore.includes(0));
  const runs = log.moveOut(0);
  t.true(runs.length > 0);
  t.false([...log.current.values()].some(({ slab }) => slab === 0));
  t.deepEqual(differences(), []);
  log.compact(7);
  model.compact(7);
  t.deepEqual(differences(), []);
  pool.retireEmpty(1);
  apply((w) => ({ operations: [w.put(B, EXPECT_ANY, 'x'.repeat(1800))] }));
  t.is(log.current.get(B)?.slab, 0, 'the emptied slab is used again');
  t.deepEqual(differences(), []);
});

const STEPS = casesOf(500);
const RUNS = [
  { seed: 1, slabBytes: 2048, keys: 12, media: 'protobuf', valueBytesMax: 1500 },
  { seed: 2, slabBytes: 4096, keys: 60, media: 'json', valueBytesMax: 20_000 },
  { seed: 3, slabBytes: 65_536, keys: 300, media: 'protobuf', valueBytesMax: 600_000 },
] as const;

for (const { seed, ...options } of RUNS) {
  test(`random transactions, compactions and moves agree with the model (${options.keys} keys, seed ${seed})`, async (t) => {
    const store = new RandomStore(new SeededRandom(seed), new MemoryEngine(new Uint8Array(32)), options);
    let liveBytesMax = 0;
    for (let step = 1; step <= STEPS; step++) {
      await store.step();
      liveBytesMax = Math.max(liveBytesMax, store.pool.liveBytes);
      if (step % 25 !== 0) continue;
      store.checkReader();
      t.deepEqual([...store.problems, ...differences(store.log, store.pool, store.model)], [], `at step ${step}`);
    }
    t.true(store.model.revision > STEPS / 2, 'enough was written');
    t.true(store.movedRecords > STEPS / 30, 'records were moved');
    t.true(store.pool.reservedBytes < 4 * liveBytesMax, 'slabs are reused');
  });
}

test('what a batch writes stays as it was put, however large the batch becomes', (t) => {
  const { log } = rig(1 << 20);
  for (let batch = 0; batch < 3; batch++) {
    const firstRevision = log.revision + 1;
    const data = (put: number): string => `${batch}/${put}/`.padEnd(20_000, 'x');
    const keys = Array.from({ length: 60 }, (_, put) => `core/pods/default/p${put}`);
    log.begin();
    for (const [put, key] of keys.entries()) {
      const { transaction, payload } = message((writer) => ({ operations: [writer.put(key, EXPECT_ANY, data(put))] }));
      log.apply(transaction, payload);
    }
    const { writes } = log.finish(firstRevision, 0)!;
    for (const [put, key] of keys.entries()) {
      const written = readStoredValue(key, writes[put]!.value!);
      t.true(written?.json.includes(data(put)), `${batch} ${key}`);
    }
  }
});
