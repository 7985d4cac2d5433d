// `orch placement check FILE`: prints the plan a placement resolves to, or the line and the reason it cannot work.
// `orch placement compare A B …` measures placements beside each other; the bench does that.
import { availableParallelism } from 'node:os';
import { ACTORS } from '../actors/actors.ts';
import { UsageError } from '../config/usage-error.ts';
import { resolvePlacement } from '../runtime/placement/placement.ts';
import type { Plan } from '../runtime/placement/plan.ts';
import { formatPlan } from '../runtime/placement/plan-format.ts';
import { readPlacement } from '../runtime/placement-file.ts';
import { asksForHelp } from './command-line/help-flag.ts';

/** The plan of a shipped placement or a file. Throws OrchError BadConfiguration. */
export function planFor(nameOrPath: string): Plan {
  const { text, fileName } = readPlacement(nameOrPath);
  return resolvePlacement(text, fileName, ACTORS, availableParallelism());
}

const USAGE = 'usage: orch placement check FILE, or orch placement compare FILE FILE... [OPTIONS of orch bench]';

export async function placement(argv: readonly string[]): Promise<void> {
  if (asksForHelp(argv)) throw new UsageError(USAGE);
  const [verb, file, ...rest] = argv;
  if (verb === 'compare') {
    const { comparePlacements } = await import('../bench/compare.ts');
    await comparePlacements(argv.slice(1));
    return;
  }
  if (verb !== 'check' || file === undefined || rest.length > 0) throw new UsageError(USAGE);
  process.stdout.write(`${formatPlan(planFor(file))}\n`);
}
