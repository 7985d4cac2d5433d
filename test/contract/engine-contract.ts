// What every storage engine promises (storage/engines/local-engine.ts), as one suite. The engines themselves are in engine.test.ts.
import test, { type ExecutionContext } from 'ava';
import type {
  EngineBatch,
  EngineContents,
  EngineView,
  EngineWrite,
  LocalEngine,
} from '../../storage/engines/local-engine.ts';

/** One engine's storage: every `make` gives a fresh handle on the same contents, unopened. */
export interface EngineSubject {
  make(): LocalEngine;
  dispose(): Promise<void>;
}

export interface LoadedEngine {
  readonly contents: EngineContents;
  readonly values: ReadonlyMap<string, string>;
  readonly events: readonly string[];
}

/** Opens an engine and reads back all it holds. */
export async function load(engine: LocalEngine): Promise<LoadedEngine> {
  const contents = await engine.open();
  const values = new Map<string, string>();
  const events: string[] = [];
  await engine.loadValues((key, value) => values.set(key, Buffer.from(value).toString()));
  await engine.loadEvents((record) => events.push(Buffer.from(record).toString()));
  return { contents, values, events };
}

/** A batch of the revisions `first` to `last` that writes these texts; null removes a key. */
export function batchOf(
  first: number,
  last: number,
  writes: readonly (readonly [key: string, text: string | null])[] = [],
): EngineBatch {
  return {
    firstRevision: first,
    lastRevision: last,
    writes: writes.map(([key, text]): EngineWrite => ({ key, value: text === null ? undefined : Buffer.from(text) })),
    events: Buffer.from(`events ${first}-${last}`),
  };
}

/** Reads a view to its end and closes it. */
async function readAll(view: EngineView, bytesMax: number, slices: number[] = []): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (;;) {
    const slice = await view.next(bytesMax);
    if (slice.length === 0) break;
    slices.push(slice.length);
    for (const [key, value] of slice) values.set(key, Buffer.from(value).toString());
  }
  await view.close();
  return values;
}

async function compactAll(engine: LocalEngine, upToRevision: number): Promise<void> {
  while (await engine.compact(upToRevision)) await engine.probe();
}

/** Declares the suite for one engine. */
export function engineContract(name: string, makeSubject: () => Promise<EngineSubject>): void {
  const contract = (title: string, run: (t: ExecutionContext, subject: EngineSubject) => Promise<void>) =>
    test(`${name}: ${title}`, async (t) => {
      const subject = await makeSubject();
      t.teardown(() => subject.dispose());
      await run(t, subject);
    });

  contract('a new engine is empty and has a key for tokens', async (t, subject) => {
    const engine = subject.make();
    const { contents, values, events } = await load(engine);
    t.deepEqual([contents.compactedRevision, contents.markedRevision, values.size, events.length], [0, 0, 0, 0]);
    t.is(contents.tokenKey.byteLength, 32);
    await engine.probe();
    await engine.close();
  });

  contract('what was committed is there again, with its events in order', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    await engine.commit(batchOf(1, 1, [['core/pods/default/a', 'one']]));
    await engine.commit(
      batchOf(2, 4, [
        ['core/pods/default/b', 'two'],
        ['core/pods/default/a', 'three'],
      ]),
    );
    await engine.close();
    const again = subject.make();
    const { contents, values, events } = await load(again);
    t.deepEqual(Object.fromEntries(values), { 'core/pods/default/a': 'three', 'core/pods/default/b': 'two' });
    t.deepEqual(events, ['events 1-1', 'events 2-4']);
    t.is(contents.markedRevision, 4);
    t.is(contents.compactedRevision, 0);
    await again.close();
  });

  contract('a removed key is gone, and the last write to a key in a batch counts', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    await engine.commit(
      batchOf(1, 2, [
        ['g/r//a', 'x'],
        ['g/r//b', 'x'],
        ['g/r//c', null],
      ]),
    );
    await engine.commit(
      batchOf(3, 3, [
        ['g/r//a', null],
        ['g/r//b', null],
        ['g/r//b', 'back'],
        ['g/r//d', 'x'],
        ['g/r//d', null],
      ]),
    );
    await engine.close();
    const again = subject.make();
    t.deepEqual(Object.fromEntries((await load(again)).values), { 'g/r//b': 'back' });
    await again.close();
  });

  contract('the caller may reuse its buffers once a batch is committed', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    const value = Buffer.from('before');
    const events = Buffer.from('events');
    await engine.commit({ firstRevision: 1, lastRevision: 1, writes: [{ key: 'g/r//a', value }], events });
    value.fill(0x78);
    events.fill(0x78);
    await engine.close();
    const again = subject.make();
    const loaded = await load(again);
    t.is(loaded.values.get('g/r//a'), 'before');
    t.deepEqual(loaded.events, ['events']);
    await again.close();
  });

  contract('keys and values of any kind and length come back', async (t, subject) => {
    const values = new Map<string, string>([
      ['core/namespaces//default', ''],
      ['g/r//größe/日本/🙂', 'umlaut'],
      ['g/r/0/~', 'first and last of ASCII'],
      ['g/r//\uffff', 'last of a plane'],
      [`g/r//${'n'.repeat(70_000)}`, 'a long name'],
      ['g/r//large', 'v'.repeat(3_000_000)],
    ]);
    const engine = subject.make();
    await engine.open();
    await engine.commit(batchOf(1, 1, [...values]));
    await engine.close();
    const again = subject.make();
    const loaded = (await load(again)).values;
    t.is(loaded.size, values.size);
    for (const [key, value] of values) t.true(loaded.get(key) === value, key.slice(0, 50));
    await again.close();
  });

  contract('thousands of values and records all come back, records in order', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    const expected: string[] = [];
    for (let batch = 0; batch < 1200; batch++) {
      const first = 3 * batch + 1;
      await engine.commit(
        batchOf(
          first,
          first + 2,
          [0, 1, 2].map((n) => [`g/r//${first + n}`, `v${first + n}`] as const),
        ),
      );
      expected.push(`events ${first}-${first + 2}`);
    }
    await engine.close();
    const again = subject.make();
    const { values, events } = await load(again);
    t.is(values.size, 3600);
    t.true([...values].every(([key, value]) => value === `v${key.slice(5)}`));
    t.deepEqual(events, expected);
    await again.close();
  });

  contract('records stay in order when revisions outgrow 32 bits', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    const revisions = [15, 16, 255, 256, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 52, Number.MAX_SAFE_INTEGER];
    for (const revision of revisions) await engine.commit(batchOf(revision, revision));
    await engine.close();
    const again = subject.make();
    const { events, contents } = await load(again);
    t.deepEqual(
      events,
      revisions.map((revision) => `events ${revision}-${revision}`),
    );
    t.is(contents.markedRevision, Number.MAX_SAFE_INTEGER);
    await again.close();
  });

  contract('compaction forgets whole records up to a revision and nothing else', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    await engine.commit(batchOf(1, 3, [['g/r//a', 'x']]));
    await engine.commit(batchOf(4, 6, [['g/r//b', 'y']]));
    await engine.commit(batchOf(7, 7));
    await compactAll(engine, 5);
    await engine.commit(batchOf(8, 8));
    await engine.close();
    const again = subject.make();
    const { contents, values, events } = await load(again);
    t.is(contents.compactedRevision, 5);
    t.is(contents.markedRevision, 8);
    t.deepEqual(events, ['events 4-6', 'events 7-7', 'events 8-8']);
    t.is(values.size, 2);
    await compactAll(again, 6);
    await again.close();
    const third = subject.make();
    t.deepEqual((await load(third)).events, ['events 7-7', 'events 8-8']);
    await third.close();
  });

  contract('compaction never goes back', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    for (let revision = 1; revision <= 5; revision++) await engine.commit(batchOf(revision, revision));
    await compactAll(engine, 3);
    await compactAll(engine, 2);
    await engine.close();
    const again = subject.make();
    const { contents, events } = await load(again);
    t.is(contents.compactedRevision, 3);
    t.deepEqual(events, ['events 4-4', 'events 5-5']);
    await again.close();
  });

  contract('a compaction cut short after its first slice shows no forgotten record later', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    for (let revision = 1; revision <= 1300; revision++) await engine.commit(batchOf(revision, revision));
    await engine.compact(1295);
    await engine.close();
    const again = subject.make();
    const { contents, events } = await load(again);
    t.is(contents.compactedRevision, 1295);
    t.deepEqual(
      events,
      [1296, 1297, 1298, 1299, 1300].map((revision) => `events ${revision}-${revision}`),
    );
    await compactAll(again, 1297);
    await again.close();
    const third = subject.make();
    t.is((await load(third)).events.length, 3);
    await third.close();
  });

  contract('the key for tokens is the same after every start', async (t, subject) => {
    const engine = subject.make();
    const { tokenKey } = await engine.open();
    await engine.close();
    const again = subject.make();
    t.deepEqual(Buffer.from((await again.open()).tokenKey), Buffer.from(tokenKey));
    await again.close();
  });

  contract('a view holds what was there when it was taken, whatever is written meanwhile', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    await engine.commit(batchOf(1, 1, [['a', 'one']]));
    const view = engine.view();
    const keys = Array.from({ length: 3000 }, (_, number) => `many/${number}`);
    await engine.commit(
      batchOf(2, 2, [['a', null], ...keys.map((key): readonly [string, string] => [key, 'x'.repeat(100)])]),
    );
    const second = engine.view();
    await engine.commit(batchOf(3, 3, [['many/0', 'changed']]));
    t.deepEqual(await readAll(view, 1024), new Map([['a', 'one']]));
    const slices: number[] = [];
    const many = await readAll(second, 10_000, slices);
    t.deepEqual([...many.keys()].sort(), keys.sort());
    t.true([...many.values()].every((text) => text === 'x'.repeat(100)));
    t.true(slices.length > 3, `${slices.length} slices`);
    await engine.close();
  });

  contract('a view that is open does not keep an engine from closing', async (t, subject) => {
    const engine = subject.make();
    await engine.open();
    await engine.commit(batchOf(1, 1, [['a', 'one']]));
    engine.view();
    await t.notThrowsAsync(engine.close());
  });
}
