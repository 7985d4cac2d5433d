// Files that are replaced while something goes by them.
import test from 'ava';
import { FollowedFiles } from '../../../runtime/files/followed-files.ts';

interface World {
  readonly files: Map<string, string>;
  readonly taken: string[][];
  /** Texts that were to be taken, whether they were or not. */
  readonly tried: string[];
  readonly refused: string[];
  /** One more look, to its end. */
  look(): Promise<void>;
  /** While it is full, nothing is taken, whatever the files hold. */
  readonly machine: { isFull: boolean };
  readonly isTiming: () => boolean;
  readonly followed: FollowedFiles;
}

function world(...paths: string[]): World {
  const files = new Map(paths.map((path) => [path, 'good']));
  const taken: string[][] = [];
  const tried: string[] = [];
  const refused: string[] = [];
  const machine = { isFull: false };
  let tick: (() => void) | undefined;
  const followed = new FollowedFiles({
    disk: {
      async readFile(path) {
        const text = files.get(path);
        if (text === undefined) throw new Error(`no ${path}`);
        return Buffer.from(text);
      },
    },
    timers: {
      every(_intervalMs, callback) {
        tick = callback;
        return { cancel: () => (tick = undefined) };
      },
    },
    paths,
    take(texts) {
      tried.push(texts.join());
      if (machine.isFull) throw new Error('no room');
      if (texts.includes('bad')) throw new Error('of no use');
      taken.push([...texts]);
    },
    onRefused: (error) => refused.push((error as Error).message),
  });
  const look = async (): Promise<void> => {
    tick?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { files, taken, tried, refused, look, machine, isTiming: () => tick !== undefined, followed };
}

test('what the files hold is taken at the start, and again only when it has changed', async (t) => {
  const { followed, files, taken, look } = world('a', 'b');
  await followed.start();
  await look();
  t.deepEqual(taken, [['good', 'good']]);
  files.set('b', 'better');
  await look();
  t.deepEqual(taken, [
    ['good', 'good'],
    ['good', 'better'],
  ]);
});

test('what is of no use is told once, when a second look finds the same', async (t) => {
  const { followed, files, taken, refused, look } = world('a');
  await followed.start();
  files.set('a', 'bad');
  await look();
  t.deepEqual(refused, []);
  await look();
  await look();
  t.deepEqual(refused, ['of no use']);
  files.set('a', 'better');
  await look();
  t.deepEqual(taken, [['good'], ['better']]);
});

test('what was half replaced at one look is nobody’s concern when it is whole at the next', async (t) => {
  const { followed, files, refused, taken, look } = world('a', 'b');
  await followed.start();
  files.set('a', 'bad');
  await look();
  files.set('a', 'new');
  await look();
  t.deepEqual(refused, []);
  t.deepEqual(taken.at(-1), ['new', 'good']);
});

test('what is of no use is not tried again and again, and is told again once something else was there', async (t) => {
  const { followed, files, tried, refused, look } = world('a');
  await followed.start();
  for (const between of ['better', 'better', 'good', 'good']) {
    files.set('a', 'bad');
    for (let looks = 0; looks < 4; looks++) await look();
    files.set('a', between);
    await look();
  }
  const each = ['bad', 'bad'];
  t.deepEqual(tried, ['good', ...each, 'better', ...each, ...each, 'good', ...each]);
  t.is(refused.length, 4);
});

test('what the machine refused is taken unchanged once it no longer does, and is told once until then', async (t) => {
  const { followed, files, taken, tried, refused, look, machine } = world('a');
  await followed.start();
  files.set('a', 'renewed');
  machine.isFull = true;
  for (let looks = 0; looks < 100; looks++) await look();
  t.deepEqual(refused, ['no room']);
  t.true(tried.length < 10, 'it is not tried at each look');
  machine.isFull = false;
  for (let looks = 0; looks < 100; looks++) await look();
  t.deepEqual(taken, [['good'], ['renewed']]);
});

test('a look that takes long is the only one', async (t) => {
  let tick = (): void => {};
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const followed = new FollowedFiles({
    disk: { readFile: async () => Buffer.from('good') },
    timers: {
      every: (_intervalMs, callback) => {
        tick = callback;
        return { cancel: () => {} };
      },
    },
    paths: ['a'],
    take: ([text = '']) => {
      begun.push(text);
      return new Promise((resolve) => ends.push(resolve));
    },
    onRefused: () => t.fail(),
  });
  const started = followed.start();
  for (let looks = 0; looks < 3; looks++) {
    await new Promise((resolve) => setImmediate(resolve));
    tick();
  }
  t.deepEqual(begun, ['good']);
  for (const end of ends) end();
  await started;
});

test('a file that is gone is told once, and what was there is not taken again when it is back', async (t) => {
  const { followed, files, refused, taken, look } = world('a');
  await followed.start();
  files.delete('a');
  await look();
  await look();
  t.deepEqual(refused, ['a cannot be read (no a)']);
  files.set('a', 'good');
  await look();
  t.is(taken.length, 1);
});

test('no more looks after the end, and none without files', async (t) => {
  const { followed, isTiming } = world('a');
  await followed.start();
  t.true(isTiming());
  followed.stop();
  t.false(isTiming());
  const none = world();
  await none.followed.start();
  t.false(none.isTiming());
  t.deepEqual(none.taken, []);
});
