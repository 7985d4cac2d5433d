// The fuzzers' own machinery: what is planted is found, cut down, and can be put again from its file. One test at a time: they
// change what all share.
import test from 'ava';
import { BATCH_INPUTS, runSlice, schedule } from './engine.ts';
import { failureOf, SLOW_MS } from './findings.ts';
import { diceOf } from './generate/dice.ts';
import { withName } from './generate/junk.ts';
import { mutatedBytes } from './generate/mutate-text.ts';
import { grownValue, mutatedValue } from './generate/mutate-value.ts';
import { inputFileText, NO_BYTES, parseInputFile } from './input.ts';
import { REAL_STOPWATCH, type Stopwatch } from './stopwatch.ts';
import type { Target } from './target.ts';

const QUIET = { begin() {}, done() {} };
const SLICE = { seed: 5, inputs: 500, slice: 0, of: 1 };

/** Inputs are texts of letters; `run` is what a test plants. */
function planted(run: (text: string) => void, name = 'planted'): Target {
  return {
    name,
    weight: 1,
    generate: (dice) => ({
      text: { letters: Array.from({ length: 30 }, () => dice.pick(['a', 'b', 'c', 'x'])).join('') },
      body: NO_BYTES,
    }),
    run: ({ text }) => run(text.letters ?? ''),
  };
}

test.serial('a planted error is found once, cut down, and found again from its file', async (t) => {
  const target = planted((text) => {
    if (text.includes('xa')) throw new TypeError(`cannot read ${text.length}`);
  });
  const { findings, inputs } = await runSlice([target], SLICE, QUIET);
  t.is(inputs, 500);
  t.is(findings.length, 1);
  const [finding] = findings;
  t.is(finding!.kind, 'error');
  t.deepEqual(finding!.input.text, { letters: 'xa' });
  const stored = parseInputFile(inputFileText(finding!, finding!.detail));
  t.is(stored.target, 'planted');
  t.regex((await failureOf(target, stored.input)) ?? '', /cannot read 2/);
});

test.serial('different errors of one target are different findings', async (t) => {
  const target = planted((text) => {
    if (text.startsWith('a')) throw new Error('one');
    if (text.startsWith('b')) throw new Error('another');
  });
  const { findings } = await runSlice([target], SLICE, QUIET);
  t.deepEqual(findings.map(({ detail }) => detail.split('\n')[0]).sort(), ['Error: another', 'Error: one']);
});

test.serial('what a target rejects with later is found as well', async (t) => {
  const target: Target = { ...planted(() => {}), run: () => Promise.reject(new Error('late')) };
  t.is((await runSlice([target], SLICE, QUIET)).findings.length, 1);
});

test.serial('a member given to every object is found', async (t) => {
  const target = planted((text) => {
    if (text.startsWith('xx'))
      Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true });
  });
  const { findings } = await runSlice([target], SLICE, QUIET);
  delete (Object.prototype as { polluted?: unknown }).polluted;
  t.true(findings.some(({ kind }) => kind === 'prototype'));
});

/** Every piece of work takes `ms`, on a machine that is `slowness` times slower than others. */
function stopwatchOf(ms: readonly number[], slowness: number): Stopwatch {
  let times = 0;
  return {
    async time(work) {
      await work();
      return ms[times++ % ms.length]!;
    },
    slowness: () => slowness,
  };
}

for (const [why, ms, slowness, found] of [
  ['too long every time is found', [400, 500], 1, ['slow']],
  ['long once is not', [400, 400, 400, 100], 1, []],
  ['long on a machine on which everything does is not', [400], 2, []],
  ['too long on such a machine is found', [1000], 2, ['slow']],
] as const) {
  test.serial(`an input that takes ${why}`, async (t) => {
    const target = planted(() => {
      const from = performance.now();
      while (performance.now() - from <= SLOW_MS);
    });
    const { findings, slow } = await runSlice([target], { ...SLICE, inputs: 1 }, QUIET, stopwatchOf(ms, slowness));
    t.is(slow, 1);
    t.deepEqual(
      findings.map(({ kind }) => kind),
      found,
    );
  });
}

test.serial(
  'the real stopwatch tells of work by the time it takes, and of the machine by a piece of work',
  async (t) => {
    const took = await REAL_STOPWATCH.time(async () => {
      for (let round = 0; round < 10; round++) REAL_STOPWATCH.slowness();
    });
    t.true(took > 0);
    t.true(REAL_STOPWATCH.slowness() >= 1);
  },
);

test.serial('several inputs at a time are all put, and the check follows each batch', async (t) => {
  let put = 0;
  let checks = 0;
  const target: Target = {
    ...planted(() => {
      put++;
    }),
    concurrency: 7,
    check: () => {
      checks++;
      return Promise.reject(new Error('the server is gone'));
    },
  };
  const { findings } = await runSlice([target], { ...SLICE, inputs: 600 }, QUIET);
  t.deepEqual([put, checks], [600, 3]);
  t.is(findings[0]?.kind, 'crash');
});

test.serial('targets get their part of a run, and slices share it without gaps', (t) => {
  const targets = [planted(() => {}, 'one'), { ...planted(() => {}, 'two'), weight: 3 }];
  const batches = [...schedule(targets, 40 * BATCH_INPUTS)];
  t.is(batches.filter(([at]) => at === 0).length, 10);
  t.deepEqual(
    batches.filter(([at]) => at === 1).map(([, from]) => from),
    Array.from({ length: 30 }, (_, batch) => batch * BATCH_INPUTS),
  );
});

test.serial('the same dice make the same inputs, other numbers make others', (t) => {
  const draw = (seed: number, name: string, index: number): string => {
    const dice = diceOf(seed, name, index);
    const value = { a: [1, { b: 'c' }], d: 'e' };
    const changed = mutatedValue(structuredClone(value), dice, 5, () => undefined);
    return `${JSON.stringify(changed)} ${mutatedBytes(Buffer.from('some bytes'), dice).toString('hex')}`;
  };
  t.is(draw(1, 'a', 7), draw(1, 'a', 7));
  const texts = new Set([
    draw(1, 'a', 7),
    draw(2, 'a', 7),
    draw(1, 'b', 7),
    draw(1, 'a', 8),
    draw(1, 'a', 7 + 2 ** 32),
  ]);
  t.is(texts.size, 5);
});

test.serial('a value is made huge, but no larger than a body may be', (t) => {
  for (let index = 0; index < 30; index++) {
    const text = JSON.stringify(grownValue({ a: [{ name: 'a' }], b: { c: 'd' } }, diceOf(1, 'grown', index)));
    t.true(text.length < 3 * 1024 * 1024);
  }
});

test.serial('a name is set as JSON.parse sets it', (t) => {
  const object = withName({}, '__proto__', 1);
  t.is(JSON.stringify(object), '{"__proto__":1}');
  t.is(Object.getPrototypeOf(object), Object.prototype);
});
