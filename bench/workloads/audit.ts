// What it costs that every request is recorded: the same read of servers that write an audit log at Metadata, before each answer goes on
// (the default) and in batches, beside one without a policy; a request that is not in the log is an error. And what
// priority and fairness costs whoever is not exempt from it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIALECTS } from '../../config/dialect.ts';
import type { Bench, Target, Workload } from '../bench.ts';
import { answeredIn, withUnrecorded } from '../figures/audit-log.ts';
import { figuresOf, floorFigures } from '../figures/report.ts';
import { sum } from '../figures/slices.ts';
import { addReadObjects, medianCpuRatio, readInTurns } from '../read-turns.ts';
import { asUsers, staticUsers } from '../static-users.ts';

const ROUNDS = 7;
/** Files of 100 MB, of which a run of the usual length fills one or two: none goes before it is read. */
const LOG_BACKUPS = 9;

/** A server that is measured, over the plain one. */
interface Case {
  readonly name: string;
  /** `folder`: of its own. */
  readonly options: (folder: string) => readonly string[];
  readonly isRecorded: boolean;
}

const CASES: readonly Case[] = [
  { name: 'audit blocking', options: (folder) => audited(folder, []), isRecorded: true },
  { name: 'audit omitting', options: (folder) => audited(folder, ['RequestReceived']), isRecorded: true },
  { name: 'audit batch', options: (folder) => [...audited(folder, []), ...BATCHES], isRecorded: true },
  { name: 'fairness off', options: () => ['enable-priority-and-fairness=false'], isRecorded: false },
];

/** No event is dropped: a log that is measured is to be written. */
const BATCHES = ['audit-log-mode=batch', 'audit-log-batch-buffer-size=100000', 'audit-log-batch-max-size=100'];

export const audit: Workload = {
  name: 'audit',
  summary: 'Reads that are recorded at Metadata, in turns with reads that are not; and with fairness off',
  async run(bench, report) {
    bench.requireOwnServer('audit');
    const users = staticUsers(bench, { reader: 100 });
    const folders = CASES.map(() => bench.makeDirectory());
    const slices = await withTargets(
      bench,
      [[], ...CASES.map(({ options }, index) => options(folders[index]!))].map((more) => [...users, ...more]),
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
    for (const [index, { name, isRecorded }] of CASES.entries()) {
      const of = measured[index]!;
      const all = sum(of);
      // The servers have ended: what was held back is written.
      const result = isRecorded ? withUnrecorded(all, await answeredIn(folders[index]!)) : all;
      const floor = floorFigures('as by default', sum(plain));
      const parameters = { connections: bench.connections, rounds: ROUNDS };
      const details = { medianCpuRatio: medianCpuRatio(of, plain), medianDefaultToThis: medianCpuRatio(plain, of) };
      report(figuresOf({ workload: name, parameters, unit: 'requests', result, floor, details }));
    }
  },
};

/** The options of a server that records every request at Metadata. */
function audited(folder: string, omitStages: readonly string[]): readonly string[] {
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
