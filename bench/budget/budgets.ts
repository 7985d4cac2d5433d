// bench/budgets.json: for each path what it may cost and where it is to get to. Tightened with each gain, never loosened without
// a reason in the log.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Budget } from './verdicts.ts';

const FILE = fileURLToPath(new URL('../../../bench/budgets.json', import.meta.url));

/** The budgets by row. Throws where one of the rows has none that makes sense, or a budget has no row. */
export function readBudgets(ids: readonly string[]): ReadonlyMap<string, Budget> {
  const budgets = new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Budget>));
  for (const id of ids) {
    const { budget, reach } = budgets.get(id) ?? { budget: Number.NaN, reach: Number.NaN };
    if (!(reach > 0 && budget >= reach)) throw new Error(`bench/budgets.json: "${id}" needs a budget and a reach`);
  }
  for (const id of budgets.keys())
    if (!ids.includes(id)) throw new Error(`bench/budgets.json: there is no row "${id}"`);
  return budgets;
}
