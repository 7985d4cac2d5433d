// `bench profile WORKLOAD`: the workload, and where the server's threads spent their time under it, as a picture.
import { writeFileSync } from 'node:fs';
import type { Workload } from '../bench.ts';
import type { Figures } from '../figures/report.ts';
import type { BenchOptions } from '../options.ts';
import { flameGraph } from './flame-graph.ts';
import { type PartCost, partCosts } from './parts.ts';
import { ProfiledBench } from './profiled-bench.ts';

/**
 * Runs the workload in a bench that takes profiles, and writes `profile-<workload>.svg` (or `--svg FILE`). Answers the file, and
 * what each part took of an operation.
 */
export async function profileWorkload(
  bench: ProfiledBench,
  workload: Workload,
  report: (figures: Figures) => void,
): Promise<{ readonly file: string; readonly costs: readonly PartCost[] }> {
  const { svg = `profile-${workload.name}.svg` } = bench.options;
  await workload.run(bench, report);
  if (bench.profiled === undefined) throw new Error(`${workload.name} puts no load on a server that could be profiled`);
  const graphs = bench.profile.map(({ thread, stacks }) => ({ title: `${thread} thread`, stacks }));
  writeFileSync(svg, flameGraph(graphs));
  return { file: svg, costs: partCosts(bench.profile, bench.profiled) };
}

/** The bench for it: floors are none of its business. */
export function profiledBench(options: BenchOptions): ProfiledBench {
  return new ProfiledBench({ ...options, floor: 'no' });
}
