// The fuzzers' command line: many inputs with a progress line, or one again from its file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readCommandLine } from '../command-line.ts';
import { type Finding, failureOf, findingText, slowness } from './findings.ts';
import { inputFileText, parseInputFile, shownInput } from './input.ts';
import { runSockets, runThreads } from './run-threads.ts';
import { REAL_STOPWATCH } from './stopwatch.ts';
import type { Target } from './target.ts';
import { SOCKET_TARGETS, TARGETS, targetNamed } from './targets.ts';

const USAGE = `usage: npm run fuzz -- [options]
  --inputs N      inputs in all (default 100000)
  --seed S        which inputs (default 1)
  --target NAME   only this one: ${[...TARGETS, ...SOCKET_TARGETS].map(({ name }) => name).join(', ')}
  --jobs N        threads (default 1)
  --replay FILE   put one input again, from the file that its failure left
  --failures DIR  where failures are written (default .orch/fuzz)
`;

const { values } = readCommandLine(USAGE, {
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
  const failure = (await failureOf(target, input)) ?? (await slowness(target, input, REAL_STOPWATCH));
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

/** Connections of a mixed run, for each listener, per thousand inputs. */
const CONNECTIONS_PER_THOUSAND = 1;

function progressLine(name: string, inputs: number): (more: number) => void {
  const from = performance.now();
  let done = 0;
  return (more) => {
    done += more;
    const rate = Math.round((done * 1000) / (performance.now() - from));
    process.stdout.write(`\r${name}${done} of ${inputs} inputs, ${rate}/s `);
  };
}

async function runInProcess(targets: readonly string[], inputs: number): Promise<readonly Finding[]> {
  const [seed, jobs] = [Number(values.seed), Number(values.jobs)];
  const result = await runThreads({ targets, seed, inputs, jobs, progress: progressLine('', inputs) });
  process.stdout.write('\n');
  const rates = Object.entries(result.milliseconds).map(
    ([name, ms]) => `${name} ${result.counts[name]} (${Math.round((result.counts[name]! * 1000) / ms)}/s)`,
  );
  print(rates.join(', '));
  print(`heap after collection, MB: ${result.heapMb.map((heap) => heap.join(' ')).join(' | ')}`);
  print(`${result.inputs} inputs, ${result.slow} looked at twice for their time, ${result.findings.length} findings`);
  return result.findings;
}

async function runOverSockets(target: Target, connections: number): Promise<readonly Finding[]> {
  const line = progressLine(`${target.name}: `, connections);
  const { findings } = await runSockets(target, Number(values.seed), connections, line);
  process.stdout.write('\n');
  print(`${target.name}: ${connections} connections, ${findings.length} findings`);
  return findings;
}

async function runAll(): Promise<boolean> {
  const inputs = Number(values.inputs);
  const findings: Finding[] = [];
  const sockets = SOCKET_TARGETS.filter(({ name }) => values.target === undefined || values.target === name);
  const inProcess = TARGETS.map(({ name }) => name).filter(
    (name) => values.target === undefined || values.target === name,
  );
  if (inProcess.length > 0) findings.push(...(await runInProcess(inProcess, inputs)));
  const connections = values.target === undefined ? Math.ceil((inputs / 1000) * CONNECTIONS_PER_THOUSAND) : inputs;
  for (const target of sockets) findings.push(...(await runOverSockets(target, connections)));
  for (const finding of findings) keep(finding);
  return findings.length === 0;
}

if (values.help) process.stdout.write(USAGE);
else {
  if (values.target !== undefined) targetNamed(values.target);
  process.exitCode = (await (values.replay === undefined ? runAll() : replay(values.replay))) ? 0 : 1;
}
