// The fuzzers at the size of a test: what was once found, and a hundred thousand inputs in this process.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { ROOT } from '../unit/source-tree.ts';
import { failureOf, findingText } from './findings.ts';
import { parseInputFile } from './input.ts';
import { runThreads } from './run-threads.ts';
import { TARGETS, targetNamed } from './targets.ts';

const INPUTS = 100_000;
const CORPUS = `${ROOT}test/fuzz/corpus`;

test.serial('what was found once is not found again', async (t) => {
  for (const target of TARGETS) await target.start?.();
  const files = readdirSync(CORPUS);
  for (const file of files) {
    const { target, input } = parseInputFile(readFileSync(`${CORPUS}/${file}`, 'utf8'));
    t.is(await failureOf(targetNamed(target), input), undefined, file);
  }
  for (const target of TARGETS) await target.stop?.();
  t.true(files.length > 5);
});

test.serial(`nothing breaks under ${INPUTS} inputs`, async (t) => {
  const targets = TARGETS.map(({ name }) => name);
  const { inputs, findings, counts } = await runThreads({ targets, seed: 1, inputs: INPUTS, jobs: 1 });
  t.deepEqual(findings.map(findingText), []);
  t.is(inputs, INPUTS);
  t.deepEqual(Object.keys(counts).sort(), [...targets].sort());
});

const SEEDS = [2, 3, 5];
const INPUTS_OF_SEED = 500;

test.serial('schemas of custom types say of values what a slow reader of their rules does', async (t) => {
  for (const seed of SEEDS) {
    const { findings } = await runThreads({ targets: ['custom-values'], seed, inputs: INPUTS_OF_SEED, jobs: 1 });
    t.deepEqual(findings.map(findingText), [], String(seed));
  }
});
