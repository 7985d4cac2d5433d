// What `bench budget` measures: a row a path, and which figure of which workload stands for it. What each may cost is in
// bench/budgets.json. Pure.
import type { Workload } from '../bench.ts';
import { type Figures, failuresOf } from '../figures/report.ts';
import type { BenchOptions } from '../options.ts';
import { audit } from '../workloads/audit.ts';
import { create } from '../workloads/create.ts';
import { remove } from '../workloads/delete.ts';
import { fairness } from '../workloads/fairness.ts';
import { first } from '../workloads/first.ts';
import { get } from '../workloads/get.ts';
import { list } from '../workloads/list.ts';
import { pending } from '../workloads/pending.ts';
import { size } from '../workloads/size.ts';
import { start } from '../workloads/start.ts';
import { update } from '../workloads/update.ts';
import { watch } from '../workloads/watch.ts';

export interface BudgetRow {
  /** Its name in bench/budgets.json. */
  readonly id: string;
  readonly title: string;
  /** What its number is: times something, or an amount. */
  readonly unit: string;
  readonly workload: Workload;
  readonly options: BenchOptions;
  /** Figures.workload of the record that the number is of. */
  readonly record: string;
  /** Null where the machine does not tell what it needs. */
  readonly value: (figures: Figures) => number | null;
  /** So many rounds and no more: for runs of minutes, which take turns within. */
  readonly rounds?: number;
}

/** The figures that a row is about, of what a run has told. Throws where nothing is to be concluded from them. */
export function figuresFor({ workload, record, title }: BudgetRow, told: readonly Figures[]): Figures {
  const figures = told.find((one) => one.workload === record);
  if (figures === undefined) throw new Error(`${workload.name} told nothing of "${record}"`);
  const [failure] = failuresOf([figures]);
  if (failure !== undefined) throw new Error(`${title}: ${failure}`);
  return figures;
}

const CPU = "the floor's CPU";
const cpu = ({ cpuToFloor }: Figures): number | null => cpuToFloor;
const p99 = ({ p99Ms, floor }: Figures): number | null => (floor === null ? null : p99Ms / floor.p99Ms);
const detail =
  (name: string) =>
  ({ details }: Figures): number | null =>
    details[name] ?? null;

const MILLION: BenchOptions = { objects: 1_000_000 };
/** Long enough to be warm: what comes before is not counted. */
const WARM: BenchOptions = { seconds: 6 };

function row(id: string, title: string, workload: Workload, options: BenchOptions, record: string): BudgetRow {
  return { id, title, unit: CPU, workload, options: { ...WARM, ...options }, record, value: cpu };
}

export const BUDGET_ROWS: readonly BudgetRow[] = [
  row('get', 'GET by name, JSON', get, {}, 'get'),
  row('get-few', 'GET by name, a few requests in a turn', get, { connections: 4 }, 'get'),
  {
    ...row('get-fair', 'GET within priority and fairness', audit, { seconds: 1 }, 'fairness off'),
    unit: 'the CPU without',
    value: detail('medianDefaultToThis'),
  },
  {
    ...row('get-audit', 'GET, recorded at Metadata', audit, { seconds: 1 }, 'audit blocking'),
    unit: 'the CPU of one that is not',
    value: detail('medianCpuRatio'),
  },
  {
    ...row('get-audit-batch', 'GET, recorded in batches', audit, { seconds: 1 }, 'audit batch'),
    unit: 'the CPU of one that is not',
    value: detail('medianCpuRatio'),
  },
  {
    ...row('fair-mice', "mice's p99 beside an elephant", fairness, { seconds: 3 }, 'fairness mice'),
    unit: 'their p99 alone',
    value: detail('p99Ratio'),
  },
  {
    ...row('fair-looker', 'p99 of a look beside a controller', fairness, { seconds: 3 }, 'fairness looker'),
    unit: 'ms more than alone',
    value: detail('p99MoreMs'),
  },
  {
    ...row('fair-crowd', '10,000 requests at once', fairness, { seconds: 3 }, 'fairness crowd'),
    unit: 'bytes resident, each',
    value: detail('rssBytesPerRequest'),
  },
  row('list', 'LIST of 10,000 pods', list, {}, 'list'),
  row('watch-flat', 'watch deliveries, 1,000 watches, flat out', watch, {}, 'watch flat'),
  {
    ...row('watch-steady', 'watch at 10 events a second, 1,000 watches', watch, { rate: 10 }, 'watch steady'),
    unit: "the floor's p99",
    value: p99,
  },
  row('create-configmap', 'config map create', create, { kind: 'configmap' }, 'create configmap'),
  row('create-pod', 'pod create', create, { kind: 'pod' }, 'create pod'),
  row('put-pod', 'pod PUT', update, { kind: 'pod', change: 'put' }, 'put pod'),
  row('patch-pod', 'pod strategic patch', update, { kind: 'pod', change: 'strategic' }, 'strategic pod'),
  row('apply-pod', 'pod apply that changes nothing', update, { kind: 'pod', change: 'apply' }, 'apply pod'),
  row('delete-configmap', 'config map delete', remove, { kind: 'configmap' }, 'delete configmap'),
  row('delete-pod', 'pod delete', remove, { kind: 'pod' }, 'delete pod'),
  { ...row('first-get', 'first 1,000 GETs after ready', first, {}, 'first get'), unit: 'the warm CPU' },
  { ...row('first-create', 'first 1,000 creates after ready', first, {}, 'first create'), unit: 'the warm CPU' },
  { ...row('start-empty', 'start to ready, empty', start, { count: 3 }, 'start empty'), unit: 'the bare process' },
  {
    ...row('watch-idle', 'an idle TLS watch', watch, { rate: 0, watchers: 5_000 }, 'watch idle'),
    unit: 'bytes resident',
    value: detail('rssBytesPerWatch'),
  },
  { ...row('start-100k', 'start to ready, 100,000 objects', size, {}, 'size start'), unit: 'a bare scan' },
  {
    ...row('memory-100k', 'memory above 120 MB, 100,000 objects', size, {}, 'size memory'),
    unit: 'their bytes',
    value: detail('timesTheirBytes'),
  },
  {
    ...row('pending-get', 'GET beside 50,000 pods that no node takes', pending, {}, 'pending get'),
    unit: 'its p99 beside config maps',
    value: detail('p99ToQuiet'),
    rounds: 1,
  },
  {
    ...row('pending-start', 'ready with 50,000 pods that no node takes', pending, {}, 'pending start'),
    unit: 'with as many config maps',
    value: detail('readyToQuiet'),
    rounds: 1,
  },
  {
    ...row('start-million', 'start to ready, a million config maps', size, MILLION, 'size start'),
    unit: 'seconds',
    value: detail('readySeconds'),
    rounds: 1,
  },
  {
    ...row('create-million', 'create behind a million config maps', size, MILLION, 'size create'),
    unit: 'the CPU of the first ones',
    rounds: 1,
  },
  {
    ...row('get-million', 'GET among a million config maps', size, MILLION, 'size get'),
    unit: 'the CPU among the first ones',
    rounds: 1,
  },
];
