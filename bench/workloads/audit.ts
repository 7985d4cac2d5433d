// What it costs that every request is recorded: the same read of servers that write an audit log at Metadata, before each answer goes on
// (the default) and in batches, beside one without a policy. And what priority and fairness costs whoever is not exempt from it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIALECTS } from '../../config/dialect.ts';
import type { Bench, Target, Workload } from '../bench.ts';
import { figuresOf, floorFigures } from '../figures/report.ts';
import { sum } from '../figures/slices.ts';
import { addReadObjects, medianCpuRatio, readInTurns } from '../read-turns.ts';
import { asUsers, staticUsers } from '../static-users.ts';

const ROUNDS = 7;
/** Two files of 100 MB are more than a run writes between two looks at the disk. */
const LOG_BACKUPS = 1;

/** A server that is measured, over the plain one. */
interface Case {
  readonly name: string;
  readonly options: (bench: Bench) => readonly string[];
}

const CASES: readonly Case[] = [
  { name: 'audit blocking', options: (bench) => audited(bench, []) },
  { name: 'audit omitting', options: (bench) => audited(bench, ['RequestReceived']) },
  { name: 'audit batch', options: (bench) => [...audited(bench, []), ...BATCHES] },
  { name: 'fairness off', options: () => ['enable-priority-and-fairness=false'] },
];

/** No event is dropped: a log that is measured is to be written. */
const BATCHES = ['audit-log-mode=batch', 'audit-log-batch-buffer-size=100000', 'audit-log-batch-max-size=100'];

export const audit: Workload = {
  name: 'audit',
  summary: 'Reads that are recorded at Metadata, in turns with reads that are not; and with fairness off',
  async run(bench, report) {
    bench.requireOwnServer('audit');
    const users = staticUsers(bench, { reader: 100 });
    const slices = await withTargets(
      bench,
      [[], ...CASES.map(({ options }) => options(bench))].map((more) => [...users, ...more]),
      async (targets) => {
        for (const target of targets) await addReadObjects(bench, target);
        return await readInTurns(
          bench,
          targets.map((target) => asUsers(target, 'reader')),
          ROUNDS,
        );
      },
    );
    const [plain = [], ...measured] = slices;
    for (const [index, { name }] of CASES.entries()) {
      const of = measured[index]!;
      const floor = floorFigures('as by default', sum(plain));
      const parameters = { connections: bench.connections, rounds: ROUNDS };
      const details = { medianCpuRatio: medianCpuRatio(of, plain), medianDefaultToThis: medianCpuRatio(plain, of) };
      report(figuresOf({ workload: name, parameters, unit: 'requests', result: sum(of), floor, details }));
    }
  },
};

/** The options of a server that records every request at Metadata. */
function audited(bench: Bench, omitStages: readonly string[]): readonly string[] {
  const folder = bench.makeDirectory();
  const file = join(folder, 'policy.json');
  const apiVersion = `${DIALECTS.orch.spell('audit.@group')}/v1`;
  writeFileSync(file, JSON.stringify({ apiVersion, kind: 'Policy', omitStages, rules: [{ level: 'Metadata' }] }));
  const path = join(folder, 'audit.log');
  return [`audit-policy-file=${file}`, `audit-log-path=${path}`, `audit-log-maxbackup=${LOG_BACKUPS}`];
}

/** Runs `use` against a server of its own for each of the lists of options. */
function withTargets<T>(
  bench: Bench,
  options: readonly (readonly string[])[],
  use: (targets: readonly Target[]) => Promise<T>,
  started: readonly Target[] = [],
): Promise<T> {
  const more = options[started.length];
  if (more === undefined) return use(started);
  return bench.withTarget((target) => withTargets(bench, options, use, [...started, target]), more);
}
