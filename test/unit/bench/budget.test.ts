import test from 'ava';
import { readBudgets } from '../../../bench/budget/budgets.ts';
import { BUDGET_ROWS, figuresFor } from '../../../bench/budget/rows.ts';
import { holdsStill, tableOf, verdictOf } from '../../../bench/budget/verdicts.ts';
import { figuresOf } from '../../../bench/figures/report.ts';
import { parseCommandLine } from '../../../bench/options.ts';

const ROW = { id: 'get', title: 'GET by name', unit: "the floor's CPU" };
const BUDGET = { budget: 2.5, reach: 1.35 };

test('every row of the budget has a budget that is no less than what is to be reached', (t) => {
  const ids = BUDGET_ROWS.map(({ id }) => id);
  t.is(new Set(ids).size, ids.length);
  t.is(readBudgets(ids).size, ids.length);
  t.throws(() => readBudgets(['get']), { message: /there is no row/ });
  t.throws(() => readBudgets([...ids, 'nothing']), { message: /"nothing" needs a budget/ });
});

test('a row is judged by the median of its rounds', (t) => {
  t.is(verdictOf(ROW, BUDGET, [9, 1.3, 1.2]).verdict, 'reached');
  t.is(verdictOf(ROW, BUDGET, [2.4]).verdict, 'held');
  t.is(verdictOf(ROW, BUDGET, [2.6, 2.7, 1]).verdict, 'OVER');
  t.is(verdictOf(ROW, BUDGET, []).verdict, 'unknown');
});

test('a row of which a run tells nothing, errors, or that nothing was done is no row that is held', (t) => {
  const row = BUDGET_ROWS.find(({ id }) => id === 'get')!;
  const told = (operations: number, errors: number) => {
    const latency = { p50Ms: 0, p99Ms: 0, maxMs: 0 };
    const result = { operations, errors, seconds: 1, writes: 0, bodyBytes: 0, latency, firstError: '500' };
    return [figuresOf({ workload: 'get', parameters: {}, unit: 'requests', result, floor: undefined })];
  };
  t.is(figuresFor(row, told(5, 0)).operations, 5);
  t.throws(() => figuresFor(row, []), { message: 'get told nothing of "get"' });
  t.throws(() => figuresFor(row, told(5, 2)), { message: 'GET by name, JSON: get: 2 errors: 500' });
  t.throws(() => figuresFor(row, told(0, 0)), { message: 'GET by name, JSON: get: nothing was done' });
});

test('a median holds still when two more rounds have hardly moved it', (t) => {
  t.false(holdsStill([2, 2]));
  t.true(holdsStill([2, 2.02, 2.01]));
  t.false(holdsStill([1, 3, 3]));
  t.true(holdsStill([1, 3, 3, 3.01, 3]));
});

test('the table has a line a row', (t) => {
  const table = tableOf([verdictOf(ROW, BUDGET, [2]), verdictOf({ ...ROW, unit: 'bytes' }, BUDGET, [])]);
  t.is(
    table,
    [
      'path         now   budget  reach           times, or',
      "GET by name  2.00  2.50    1.35   held     the floor's CPU",
      'GET by name  –     2.50    1.35   unknown  bytes',
      '',
    ].join('\n'),
  );
});

test('rows and rounds are options of the command', (t) => {
  const { workloads, options } = parseCommandLine(['budget', '--rows', 'get,list', '--rounds', '2']);
  t.deepEqual([workloads, options.rows, options.rounds], [['budget'], 'get,list', 2]);
});
