// Goal: what threads hold can be read, of an idle server too. Method: the text of counts made by hand, and the counts of this thread.
import test from 'ava';
import { asksForText, memoryText } from '../../../../../actors/ingress/paths/profiles/memory-text.ts';
import { threadMemory } from '../../../../../runtime/profiles/thread-memory.ts';

const MIB = 1024 * 1024;

test('the memory of the process and of each thread is told by spaces, empty ones left out, with where to look for more', (t) => {
  const space = (name: string, used: number, size: number) => ({ name, used: used * MIB, size: size * MIB });
  const store = {
    thread: 'store',
    used: 12.5 * MIB,
    size: 20 * MIB,
    limit: 4096 * MIB,
    external: 1.25 * MIB,
    malloced: 0,
    spaces: [space('old_space', 12, 16), space('new_space', 0.5, 4), space('shared_space', 0, 0)],
  };
  const [who, garbage, ...lines] = memoryText([store], 100 * MIB).split('\n');
  t.regex(who!, /^# .*\/debug\/pprof\/heap, /);
  t.regex(garbage!, /^# .*\/debug\/pprof\/heap\?gc=1 /);
  t.deepEqual(lines, [
    'process: resident=100.00MiB',
    'thread store: used=12.50MiB size=20.00MiB limit=4096.00MiB external=1.25MiB malloced=0.00MiB',
    '  old_space: used=12.00MiB size=16.00MiB',
    '  new_space: used=0.50MiB size=4.00MiB',
    '',
  ]);
});

test('what a thread holds is in its counts', (t) => {
  const held = Array.from({ length: 1_000_000 }, (_, index) => ({ index }));
  const { thread, used, limit, spaces } = threadMemory('here');
  // Each is larger than a pointer, and there is one to each.
  t.true(used > 16 * held.length);
  t.true(limit > used);
  t.true(spaces.some((space) => space.name === 'old_space' && space.used > 0));
  t.is(thread, 'here');
});

test('text is asked for by a number from 1 to 2', (t) => {
  t.deepEqual(
    [undefined, null, '0', '1', '2', '3', 'yes'].map((debug) => asksForText(debug)),
    [false, false, false, true, true, undefined, undefined],
  );
});
