// Goal: what an informer tells is what the server has, through pages, watches that end, versions that are forgotten and servers
// without the type. Method: a server that answers from a script, and virtual time.
import test from 'ava';
import type { ParsedAnswer } from '../../../actors/scheduler/remote/api-server.ts';
import { Informer } from '../../../actors/scheduler/remote/informer.ts';
import type { JsonObject } from '../../../api/codec/decode.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

interface OpenWatch {
  readonly path: string;
  readonly line: (event: object) => void;
  readonly end: (status: number) => void;
  readonly signal: AbortSignal;
}

const object = (name: string, resourceVersion: string) => ({ metadata: { namespace: 'a', name, resourceVersion } });
const list = (resourceVersion: string, ...names: readonly string[]) => ({
  metadata: { resourceVersion },
  items: names.map((name) => object(name, resourceVersion)),
});

function running(answers: (path: string) => JsonObject | number) {
  const time = new VirtualTime();
  const told: string[] = [];
  const versions: unknown[] = [];
  const troubles: string[] = [];
  const asked: string[] = [];
  const watches: OpenWatch[] = [];
  const informer = new Informer({
    server: {
      async list(path): Promise<ParsedAnswer> {
        asked.push(path);
        const answer = answers(path);
        return typeof answer === 'number' ? { status: answer, object: {} } : { status: 200, object: answer };
      },
      watch: (path, onEvent, signal) =>
        new Promise((end, reject) => {
          signal.addEventListener('abort', () => reject(new Error('cut')));
          watches.push({ path, line: (event) => onEvent(event as JsonObject), end, signal });
        }),
    },
    environment: { clock: time, timers: time, random: { next: () => 0.5 } },
    storageKey: 'core/pods',
    paths: ['/new', '/old'],
    fieldSelector: 'x=y',
    onNews: ({ isGone, namespace, name, object }) => {
      told.push(`${isGone ? '-' : '+'}${namespace}/${name}`);
      versions.push(object().apiVersion);
    },
    onSynced: () => told.push('synced'),
    onBatchEnd: () => {},
    onTrouble: (problem) => troubles.push(problem),
  });
  void informer.run();
  return { informer, time, told, versions, troubles, asked, watches };
}

test('all pages are told of, then the changes from there', async (t) => {
  const { time, told, watches, asked } = running((path) =>
    path.includes('continue')
      ? list('7', 'two')
      : { ...list('7', 'one'), metadata: { resourceVersion: '7', continue: 'next' } },
  );
  await time.advance(1);
  t.deepEqual(told, ['+a/one', '+a/two', 'synced']);
  t.deepEqual(asked, ['/new?limit=500&fieldSelector=x%3Dy', '/new?limit=500&fieldSelector=x%3Dy&continue=next']);
  t.regex(watches[0]!.path, /resourceVersion=7&timeoutSeconds=450&fieldSelector=x%3Dy/);
  watches[0]!.line({ type: 'ADDED', object: object('three', '8') });
  watches[0]!.line({ type: 'DELETED', object: object('one', '9') });
  t.deepEqual(told.slice(3), ['+a/three', '-a/one']);
});

test('what is listed is of the version of its list, which its items need not say', async (t) => {
  const items = [object('one', '7'), { apiVersion: 'a/v2', ...object('two', '7') }];
  const { time, versions } = running(() => ({ ...list('7'), apiVersion: 'a/v1', items }));
  await time.advance(1);
  t.deepEqual(versions, ['a/v1', 'a/v2']);
});

test('a watch that ends is resumed from the last version, bookmarks included', async (t) => {
  const { time, watches, asked } = running(() => list('7', 'one'));
  await time.advance(5_000);
  watches[0]!.line({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '20' } } });
  watches[0]!.end(200);
  await time.advance(5_000);
  t.is(asked.length, 1);
  t.regex(watches[1]!.path, /resourceVersion=20&/);
});

for (const [title, expire] of [
  ['told in the watch', (watch: OpenWatch) => watch.line({ type: 'ERROR', object: { code: 410 } })],
  ['answered to it', (watch: OpenWatch) => watch.end(410)],
] as const) {
  test(`a version that the server has forgotten, ${title}, is listed anew, and what went meanwhile is told`, async (t) => {
    let lists = 0;
    const { time, told, watches } = running(() =>
      ++lists === 1 ? list('7', 'one', 'two') : list('30', 'two', 'three'),
    );
    await time.advance(5_000);
    expire(watches[0]!);
    await time.advance(5_000);
    t.deepEqual(told, ['+a/one', '+a/two', 'synced', '+a/two', '+a/three', '-a/one']);
    t.regex(watches[1]!.path, /resourceVersion=30&/);
  });
}

for (const [title, refusal] of [
  ['is not answered', 500],
  ['is of a list that the server has forgotten', 410],
] as const) {
  test(`what was on a page whose next one ${title} is told to be gone when it is in no list after that`, async (t) => {
    const pages = [{ ...list('7', 'one', 'two'), metadata: { continue: 'next' } }, refusal, list('9', 'two')];
    const { time, told } = running(() => pages.shift()!);
    await time.advance(5_000);
    t.deepEqual(told, ['+a/one', '+a/two', '+a/two', '-a/one', 'synced']);
  });
}

test('a server that forgets each version at once is not asked without a rest', async (t) => {
  const { time, asked, watches } = running(() => list('7', 'one'));
  for (let at = 0; at < 20; at++) {
    await time.advance(500);
    watches.at(-1)!.end(410);
  }
  await time.advance(500);
  t.true(asked.length < 8, String(asked.length));
});

for (const [title, end] of [
  ['tells of another error', (watch: OpenWatch) => watch.line({ type: 'ERROR', object: { code: 500, message: 'oh' } })],
  ['tells of what is no event', (watch: OpenWatch) => watch.line({})],
  ['is answered that there is no such type', (watch: OpenWatch) => watch.end(404)],
] as const) {
  test(`a watch that ${title} cannot be resumed: everything is listed again`, async (t) => {
    let lists = 0;
    const { time, told, troubles, watches } = running(() => (++lists === 1 ? list('7', 'one') : list('30', 'two')));
    await time.advance(5_000);
    end(watches[0]!);
    await time.advance(5_000);
    t.deepEqual(told, ['+a/one', 'synced', '+a/two', '-a/one']);
    t.is(troubles.length, 1);
    t.regex(watches[1]!.path, /resourceVersion=30&/);
  });
}

test('what is answered to a list and is none does not mean that everything is gone', async (t) => {
  let lists = 0;
  const { time, told, troubles, watches } = running(() => (++lists === 2 ? {} : list('7', 'one')));
  await time.advance(5_000);
  watches[0]!.end(410);
  await time.advance(10_000);
  t.deepEqual(told, ['+a/one', 'synced', '+a/one']);
  t.deepEqual(troubles, ['core/pods: a list was answered with no list']);
  t.is(watches.length, 2);
});

test('a watch that is cut after a long time is resumed soon, whatever trouble there was before it', async (t) => {
  let isWell = false;
  const { time, watches } = running(() => (isWell ? list('7') : 500));
  await time.advance(120_000);
  isWell = true;
  await time.advance(60_000);
  t.is(watches.length, 1);
  watches[0]!.end(500);
  await time.advance(2_000);
  t.is(watches.length, 2);
});

test('a server that is in trouble is asked again, less and less often', async (t) => {
  let isWell = false;
  const { time, told, troubles, asked } = running(() => (isWell ? list('7') : 500));
  await time.advance(120_000);
  t.true(asked.length > 4 && asked.length < 12, String(asked.length));
  t.is(troubles[0], 'core/pods: a list was answered 500');
  isWell = true;
  await time.advance(60_000);
  t.deepEqual(told, ['synced']);
});

test('a type is followed in the version that the server has, and one that it does not have is empty', async (t) => {
  const older = running((path) => (path.startsWith('/old') ? list('7', 'one') : 404));
  await older.time.advance(5_000);
  t.deepEqual(older.told, ['+a/one', 'synced']);
  t.regex(older.watches[0]!.path, /^\/old/);
  const none = running(() => 404);
  await none.time.advance(5_000);
  t.deepEqual(none.told, ['synced']);
  t.true(none.informer.isSynced);
});

test('an informer that is stopped cuts its watch and asks no more', async (t) => {
  const { informer, time, watches, asked } = running(() => list('7'));
  await time.advance(5_000);
  informer.stop();
  await time.advance(60_000);
  t.true(watches[0]!.signal.aborted);
  t.is(asked.length, 1);
  t.is(watches.length, 1);
});

test('a watch of a server that hangs is asked for anew, and one that is told of something goes on', async (t) => {
  const { time, troubles, watches } = running(() => list('7', 'one'));
  for (let minute = 0; minute < 5; minute++) {
    await time.advance(60_000);
    watches[0]!.line({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(8 + minute) } } });
  }
  t.is(watches.length, 1);
  await time.advance(150_000);
  t.true(watches[0]!.signal.aborted);
  t.is(watches.length, 2);
  t.regex(watches[1]!.path, /resourceVersion=12&/);
  // Its silence is not taken for trouble: of a type that nobody changes some servers say nothing.
  t.deepEqual(troubles, []);
});
