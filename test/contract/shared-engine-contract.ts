// What every shared engine promises (storage/engines/shared-engine.ts), as one suite: on a model of etcd and on a real one.
import test, { type ExecutionContext, type SerialFn } from 'ava';
import type { OrchError } from '../../runtime/errors.ts';
import {
  type SharedEngine,
  type SharedEvent,
  type SharedTransaction,
  TOO_MANY,
} from '../../storage/engines/shared-engine.ts';
import { EtcdError } from '../../storage/etcd/etcd-cluster.ts';

export interface SharedSubject {
  /** Another process on the same keyspace; of dialect `orch` unless said. */
  make(dialect?: string): SharedEngine;
  dispose(): Promise<void>;
}

/** Before etcd forgets something; two or three suffice. */
const ROUNDS_MAX = 1000;

/** Notes what an engine tells. */
class Listener {
  readonly values = new Map<string, { readonly revision: number; readonly text: string }>();
  readonly told: { readonly revision: number; readonly events: readonly string[] }[] = [];
  lost: ((error: Error) => void) | undefined;
  #waiting: (() => void)[] = [];

  readonly follower = {
    value: (key: string, revision: number, value: Uint8Array): void => {
      this.values.set(key, { revision, text: Buffer.from(value).toString() });
    },
    again: (): void => this.values.clear(),
    revision: (revision: number, events: readonly SharedEvent[]): void => {
      this.told.push({ revision, events: events.map(textOf) });
      for (const go of this.#waiting.splice(0)) go();
    },
    lost: (error: Error): void => this.lost?.(error),
  };

  /** Waits until a revision was told. */
  async reach(revision: number): Promise<void> {
    while ((this.told.at(-1)?.revision ?? 0) < revision) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }
}

function textOf({ key, value, place }: SharedEvent): string {
  return value === undefined ? `-${key}@${place}` : `${key}=${Buffer.from(value)}`;
}

/** A transaction of one write; `text` undefined removes. */
function write(key: string, expect: number, text: string | undefined, place = 0): SharedTransaction {
  return { guards: [], writes: [{ key, expect, value: text === undefined ? undefined : Buffer.from(text) }], place };
}

async function opened(engine: SharedEngine): Promise<Listener> {
  const listener = new Listener();
  await engine.open();
  await engine.follow(listener.follower);
  return listener;
}

export function sharedEngineContract(
  name: string,
  makeSubject: () => Promise<SharedSubject>,
  declare: SerialFn = test,
): void {
  const contract = (title: string, run: (t: ExecutionContext, subject: SharedSubject) => Promise<void>) =>
    declare(`${name}: ${title}`, async (t) => {
      const subject = await makeSubject();
      t.teardown(() => subject.dispose());
      await run(t, subject);
    });

  contract('all processes get the key for tokens that the first one made', async (t, subject) => {
    const [first, second] = [subject.make(), subject.make()];
    const made = await first.open();
    const found = await second.open();
    t.is(made.tokenKey.byteLength, 32);
    t.deepEqual(found, made);
    await Promise.all([first.close(), second.close()]);
  });

  contract('a keyspace of another dialect is refused with a line', async (t, subject) => {
    await subject.make('orch').open();
    const error = await t.throwsAsync<OrchError>(subject.make('kubernetes').open());
    t.is(error?.code, 'StoreUnusable');
    t.regex(error?.message ?? '', /dialect orch/);
  });

  contract('what one process commits is told to all, each revision once', async (t, subject) => {
    const [one, other] = [subject.make(), subject.make()];
    const [mine, theirs] = [await opened(one), await opened(other)];
    const first = await one.commit([write('g/r//a', 0, 'x'), write('g/r//b', 0, 'y', 1)]);
    const second = await other.commit([write('g/r//c', 0, 'z')]);
    t.deepEqual([first.held, second.held], [[true, true], [true]]);
    t.true(second.revision > first.revision);
    const expected = [
      { revision: first.revision, events: ['g/r//a=x', 'g/r//b=y'] },
      { revision: second.revision, events: ['g/r//c=z'] },
    ];
    for (const listener of [mine, theirs]) {
      await listener.reach(second.revision);
      t.deepEqual(listener.told, expected);
    }
    await Promise.all([one.close(), other.close()]);
  });

  contract('transactions of a batch hold and fail one by one, by the state before the batch', async (t, subject) => {
    const engine = subject.make();
    const listener = await opened(engine);
    const { revision } = await engine.commit([write('g/r//a', 0, 'x')]);
    const guarded = { guards: [{ key: 'g/r//a', revision }], writes: write('g/r//d', 0, 'd').writes, place: 3 };
    const late = { guards: [{ key: 'g/r//a', revision: 1 }], writes: write('g/r//e', 0, 'e').writes, place: 4 };
    const next = await engine.commit([
      write('g/r//b', 0, 'y'),
      write('g/r//c', revision, 'never', 1),
      write('g/r//a', revision, undefined, 2),
      guarded,
      late,
    ]);
    t.deepEqual(next.held, [true, false, true, true, false]);
    await listener.reach(next.revision);
    t.deepEqual(listener.told.at(-1)?.events, ['g/r//b=y', '-g/r//a@2', 'g/r//d=d']);
    await engine.close();
  });

  contract('a batch in which nothing holds is a revision as well', async (t, subject) => {
    const engine = subject.make();
    const listener = await opened(engine);
    const { revision, held } = await engine.commit([write('g/r//a', 999_999, 'x')]);
    t.deepEqual(held, [false]);
    await listener.reach(revision);
    t.deepEqual(listener.told, [{ revision, events: [] }]);
    await engine.close();
  });

  contract('who comes later is given the state, then what follows it', async (t, subject) => {
    const engine = subject.make();
    await opened(engine);
    const keys = Array.from({ length: 1201 }, (_, index) => `g/r//${String(index).padStart(4, '0')}`);
    let last = { revision: 0, held: [] as readonly boolean[] };
    for (let at = 0; at < keys.length; at += 100) {
      last = await engine.commit(keys.slice(at, at + 100).map((key, index) => write(key, 0, key, index)));
    }
    const removed = await engine.commit([write(keys.at(-1)!, last.revision, undefined)]);
    const other = subject.make();
    const listener = await opened(other);
    t.is(listener.values.size, 1200);
    t.is(listener.values.get(keys[7]!)?.text, keys[7]);
    t.deepEqual(listener.told, []);
    const next = await engine.commit([write('g/r//new', 0, 'n')]);
    await listener.reach(next.revision);
    t.true(next.revision > removed.revision);
    t.deepEqual(listener.told, [{ revision: next.revision, events: ['g/r//new=n'] }]);
    await Promise.all([engine.close(), other.close()]);
  });

  contract('a read barrier is as new as what another process was acknowledged', async (t, subject) => {
    const [one, other] = [subject.make(), subject.make()];
    await opened(one);
    const listener = await opened(other);
    t.is(await other.readBarrier(), 0);
    const { revision } = await one.commit([write('g/r//a', 0, 'x')]);
    t.is(await other.readBarrier(), revision);
    await listener.reach(revision);
    await Promise.all([one.close(), other.close()]);
  });

  contract(
    'the state is as old as the last change, whatever else was written to the cluster since',
    async (t, subject) => {
      const [one, other] = [subject.make(), subject.make()];
      await opened(one);
      const { revision } = await one.commit([write('g/r//a', 0, 'x')]);
      // The first time it writes a key of its own, and compacts nothing.
      await one.compact().catch(() => {});
      await other.open();
      t.is(await other.follow(new Listener().follower), revision);
      await Promise.all([one.close(), other.close()]);
    },
  );

  contract('two that write the same key at once: one of them holds', async (t, subject) => {
    const engines = [subject.make(), subject.make(), subject.make()];
    for (const engine of engines) await opened(engine);
    for (let round = 0; round < 10; round++) {
      const commits = await Promise.all(
        engines.map((engine, index) => engine.commit([write(`g/r//${round}`, 0, String(index))])),
      );
      t.is(commits.filter(({ held }) => held[0]).length, 1);
      t.is(new Set(commits.map(({ revision }) => revision)).size, 3);
    }
    await Promise.all(engines.map((engine) => engine.close()));
  });

  contract('a view is the state at its revision', async (t, subject) => {
    const engine = subject.make();
    await opened(engine);
    const { revision } = await engine.commit([write('g/r//a', 0, 'one')]);
    await engine.commit([write('g/r//a', revision, 'two')]);
    const view = engine.view(revision);
    // A call may be lost; it can be asked again.
    const nextPage: typeof view.next = () => view.next().catch(() => nextPage());
    const values = (await nextPage()).map(({ key, value }) => [key, Buffer.from(value).toString()]);
    t.deepEqual(values, [['g/r//a', 'one']]);
    t.deepEqual(await nextPage(), []);
    await engine.close();
  });

  contract('compaction keeps what is newest, whoever is asked to compact', async (t, subject) => {
    const [one, other] = [subject.make(), subject.make()];
    await opened(one);
    await opened(other);
    let { revision } = await one.commit([write('g/r//a', 0, '0')]);
    const first = revision;
    const isKept = (): Promise<boolean> =>
      one
        .view(first)
        .next()
        .then(
          () => true,
          ({ message }: Error) => !message.includes('has been compacted'),
        );
    let rounds = 0;
    while (rounds < ROUNDS_MAX && (await isKept())) {
      // One that fails is made up for by the next.
      await Promise.allSettled([one.compact(), other.compact()]);
      revision = (await one.commit([write('g/r//a', revision, String(++rounds))])).revision;
    }
    t.true(rounds > 1 && rounds < ROUNDS_MAX, `${rounds} rounds`);
    const late = subject.make();
    const listener = await opened(late);
    t.is(listener.values.get('g/r//a')?.text, String(rounds));
    await Promise.all([one.close(), other.close(), late.close()]);
  });

  contract('a batch of too many operations is refused as too large, and the next is stored', async (t, subject) => {
    const engine = subject.make();
    await opened(engine);
    const many = Array.from({ length: 127 }, (_, index) => write(`g/r//${index}`, 0, 'x', index));
    const error = await t.throwsAsync<OrchError>(engine.commit(many));
    t.like(error, { code: 'StorageTooLarge', details: TOO_MANY });
    t.deepEqual((await engine.commit([write('g/r//a', 0, 'x')])).held, [true]);
    await answered(() => engine.probe());
    const sizes = await answered(() => engine.memberBytes());
    t.true(sizes.length > 0 && sizes.every(([, bytes]) => bytes >= 0));
    await engine.close();
  });
}

/** What an engine answers that may lose calls: it is asked again, as who looks after its health does. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EtcdError && error.kind === 'unknown')) throw error;
    }
  }
}
