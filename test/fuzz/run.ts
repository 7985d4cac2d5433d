// The fuzzers' command line: many inputs with a progress line, or one again from its file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Finding, failureOf, findingText, slowness } from './findings.ts';
import { inputFileText, parseInputFile, shownInput } from './input.ts';
import { runThreads } from './run-threads.ts';
import { TARGETS, targetNamed } from './targets.ts';

const USAGE = `usage: npm run fuzz -- [options]
  --inputs N      inputs in all (default 100000)
  --seed S        which inputs (default 1)
  --target NAME   only this one: ${TARGETS.map(({ name }) => name).join(', ')}
  --jobs N        threads (default 1)
  --replay FILE   put one input again, from the file that its failure left
  --failures DIR  where failures are written (default .orch/fuzz)
`;

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string' },
    jobs: { type: 'string', default: '1' },
    replay: { type: 'string' },
    failures: { type: 'string', default: '.orch/fuzz' },
    help: { type: 'boolean', default: false },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function replay(file: string): Promise<boolean> {
  const { target: name, input } = parseInputFile(readFileSync(file, 'utf8'));
  const target = targetNamed(name);
  await target.start?.();
  print(`${name}: ${shownInput(input)}`);
  const from = performance.now();
  const failure = (await failureOf(target, input)) ?? (await slowness(target, input, performance.now() - from));
  await target.stop?.();
  print(failure ?? 'nothing is wrong with it');
  return failure === undefined;
}

function keep(finding: Finding): void {
  mkdirSync(values.failures, { recursive: true });
  const file = `${values.failures}/${finding.target}-${finding.seed}-${finding.index}.json`;
  writeFileSync(file, inputFileText(finding, finding.detail));
  print(`${findingText(finding)}\n  again with: npm run fuzz -- --replay ${file}`);
}

async function runMany(targets: readonly string[]): Promise<boolean> {
  const [inputs, seed, jobs] = [Number(values.inputs), Number(values.seed), Number(values.jobs)];
  const from = performance.now();
  let done = 0;
  const result = await runThreads({
    targets,
    seed,
    inputs,
    jobs,
    progress: (more) => {
      done += more;
      const rate = Math.round((done * 1000) / (performance.now() - from));
      process.stdout.write(`\r${done} of ${inputs} inputs, ${rate}/s `);
    },
  });
  process.stdout.write('\n');
  for (const finding of result.findings) keep(finding);
  const rates = Object.entries(result.milliseconds).map(
    ([name, ms]) => `${name} ${result.counts[name]} (${Math.round((result.counts[name]! * 1000) / ms)}/s)`,
  );
  print(rates.join(', '));
  print(`heap after collection, MB: ${result.heapMb.map((heap) => heap.join(' ')).join(' | ')}`);
  print(`${result.inputs} inputs, ${result.slow} looked at twice for their time, ${result.findings.length} findings`);
  return result.findings.length === 0;
}

if (values.help) process.stdout.write(USAGE);
else {
  const targets = values.target === undefined ? TARGETS.map(({ name }) => name) : [targetNamed(values.target).name];
  const isGood = values.replay === undefined ? await runMany(targets) : await replay(values.replay);
  process.exitCode = isGood ? 0 : 1;
}
