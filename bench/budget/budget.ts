// Every path beside what it may cost, in one command: the workloads take turns, each beside its floor, until the medians hold
// still. Prints a table of its own, and fails when a path costs more than bench/budgets.json says.
import type { Bench, Workload } from '../bench.ts';
import type { Figures } from '../figures/report.ts';
import { readBudgets } from './budgets.ts';
import { measureMachine } from './machine.ts';
import { BUDGET_ROWS, type BudgetRow, figuresFor } from './rows.ts';
import { holdsStill, tableOf, type Verdicts, verdictOf } from './verdicts.ts';

/** Rounds of a path whose median does not hold still. */
const ROUNDS_MAX = 5;

/** Rows that one run of a workload serves. */
interface Turn {
  readonly rows: readonly BudgetRow[];
  readonly rounds: Map<string, number[]>;
}

export const budget: Workload = {
  name: 'budget',
  summary: 'Every path beside its floor, in turns, against bench/budgets.json; --rows for some of them',
  async run(bench, _report) {
    bench.requireOwnServer('budget');
    const budgets = readBudgets(BUDGET_ROWS.map(({ id }) => id));
    const rows = chosenRows(bench.options.rows);
    const machine = await measureMachine();
    const turns = turnsOf(rows);
    const roundsMax = bench.options.rounds ?? ROUNDS_MAX;
    for (let round = 0; round < roundsMax; round += 1) {
      for (const turn of turns) if (isDue(turn, round)) await takeTurn(bench, turn);
    }
    const rounds = new Map(turns.flatMap((turn) => [...turn.rounds]));
    const verdicts = rows.map((row) => verdictOf(row, budgets.get(row.id)!, rounds.get(row.id) ?? []));
    print(bench, machine, verdicts);
    const over = verdicts.filter(({ verdict }) => verdict === 'OVER').map(({ title }) => title);
    if (over.length > 0) throw new Error(`over budget: ${over.join('; ')}`);
  },
};

function print(bench: Bench, machine: Awaited<ReturnType<typeof measureMachine>>, verdicts: readonly Verdicts[]): void {
  if (bench.options.json === true) {
    process.stdout.write(`${JSON.stringify({ machine, rows: verdicts })}\n`);
    return;
  }
  const words = [
    `memory latency at 4 MB ${machine.memoryLatencyNs.toFixed(0)} ns`,
    `waking a thread ${machine.wakeUpMicroseconds.toFixed(0)} µs`,
    `a page's first touch ${machine.firstTouchMicroseconds.toFixed(1)} µs`,
  ];
  process.stdout.write(`${words.join(', ')}\n\n${tableOf(verdicts)}`);
}

/** Throws for a name that is none. */
function chosenRows(names: string | undefined): readonly BudgetRow[] {
  if (names === undefined) return BUDGET_ROWS;
  return names.split(',').map((name) => {
    const row = BUDGET_ROWS.find(({ id }) => id === name);
    if (row === undefined)
      throw new Error(`--rows: "${name}" is none of ${BUDGET_ROWS.map(({ id }) => id).join(', ')}`);
    return row;
  });
}

/** Rows of the same workload under the same options share its runs. */
function turnsOf(rows: readonly BudgetRow[]): readonly Turn[] {
  const turns = new Map<string, BudgetRow[]>();
  for (const row of rows) {
    const key = `${row.workload.name} ${JSON.stringify(row.options)}`;
    turns.set(key, [...(turns.get(key) ?? []), row]);
  }
  return [...turns.values()].map((shared) => ({ rows: shared, rounds: new Map(shared.map(({ id }) => [id, []])) }));
}

function isDue({ rows, rounds }: Turn, round: number): boolean {
  if (rows.every(({ rounds: max = ROUNDS_MAX }) => round >= max)) return false;
  return ![...rounds.values()].every(holdsStill);
}

async function takeTurn(bench: Bench, { rows, rounds }: Turn): Promise<void> {
  const { workload, options } = rows[0]!;
  const told: Figures[] = [];
  await bench.under(options, (own) => workload.run(own, (figures) => void told.push(figures)));
  for (const row of rows) {
    const value = row.value(figuresFor(row, told));
    if (value !== null) rounds.get(row.id)!.push(value);
  }
}
