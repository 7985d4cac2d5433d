// A measured ratio beside what it may be: the ratchet that bench/budgets.json is. Pure.
import { median } from '../figures/slices.ts';

export interface Budget {
  /** Above this the row is over: what was held when the budget was last tightened, with room for weather. */
  readonly budget: number;
  /** Where the path is to get to. */
  readonly reach: number;
}

export type Verdict = 'reached' | 'held' | 'OVER' | 'unknown';

export interface Verdicts {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly budget: number;
  readonly reach: number;
  /** The median of the rounds; null where there is none. */
  readonly value: number | null;
  readonly rounds: readonly number[];
  readonly verdict: Verdict;
}

/** The median of the rounds, and whether it is within the budget. */
export function verdictOf(
  row: { readonly id: string; readonly title: string; readonly unit: string },
  { budget, reach }: Budget,
  rounds: readonly number[],
): Verdicts {
  const { id, title, unit } = row;
  if (rounds.length === 0) return { id, title, unit, budget, reach, value: null, rounds, verdict: 'unknown' };
  const value = median(rounds);
  const verdict = value <= reach ? 'reached' : value <= budget ? 'held' : 'OVER';
  return { id, title, unit, budget, reach, value, rounds, verdict };
}

const STILL = 0.05;

/** True when another round would hardly move the median: the last two moved it by less than a twentieth each. */
export function holdsStill(rounds: readonly number[]): boolean {
  if (rounds.length < 3) return false;
  const [now, before, earlier] = [0, 1, 2].map((left) => median(rounds.slice(0, rounds.length - left)));
  const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= STILL * other;
  return isNear(now!, before!) && isNear(before!, earlier!);
}

const HEADS = ['path', 'now', 'budget', 'reach', '', 'times, or'] as const;

/** The table for a reader. */
export function tableOf(verdicts: readonly Verdicts[]): string {
  const rows = verdicts.map(({ title, value, budget, reach, verdict, unit }) => [
    title,
    value === null ? '–' : figure(value),
    figure(budget),
    figure(reach),
    verdict,
    unit,
  ]);
  const all = [[...HEADS], ...rows];
  const widths = HEADS.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return `${all
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`;
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);
}
