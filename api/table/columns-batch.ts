// The columns of jobs and cron jobs, and of what keeps workloads at size: autoscalers and disruption budgets.
import type { Dialect } from '../../config/dialect.ts';
import type { JsonObject } from '../json/json-value.ts';
import { asTimeMs, listAt, numberAt, partAt, scalarTextAt, setNumberAt, textAt } from '../json/object-fields.ts';
import { ageText, spanText } from './age.ts';
import {
  AGE,
  column,
  type KindTable,
  type KindTables,
  kindTable,
  NAME,
  type RowContext,
  wideColumn,
} from './column.ts';
import { containerColumns, specTemplate } from './containers.ts';
import { metricTargets } from './metric-targets.ts';
import { selectorText } from './selector-text.ts';

const spec = (object: JsonObject): JsonObject => partAt(object, 'spec');
const status = (object: JsonObject): JsonObject => partAt(object, 'status');

function completionsText(job: JsonObject): string {
  const succeeded = numberAt(status(job), 'succeeded');
  const completions = setNumberAt(spec(job), 'completions');
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = numberAt(spec(job), 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: JsonObject, { nowMs }: RowContext): string {
  const { startTime, completionTime } = status(job);
  if (asTimeMs(startTime) === undefined) return '';
  return asTimeMs(completionTime) === undefined ? ageText(startTime, nowMs) : spanText(startTime, completionTime);
}

function suspendText(cronJob: JsonObject): string {
  const { suspend } = spec(cronJob);
  return typeof suspend !== 'boolean' ? '<unset>' : suspend ? 'True' : 'False';
}

const jobSpec = (cronJob: JsonObject): JsonObject => partAt(partAt(spec(cronJob), 'jobTemplate'), 'spec');

function scaleTargetText(autoscaler: JsonObject): string {
  const target = partAt(spec(autoscaler), 'scaleTargetRef');
  return `${textAt(target, 'kind')}/${textAt(target, 'name')}`;
}

const BATCH_TABLES: KindTables = {
  'batch/Job': kindTable([
    NAME,
    column('Completions', 'string', 'How many pods have succeeded, of how many that must.', completionsText),
    column('Duration', 'string', 'How long the job took, or has been running.', jobDuration),
    AGE,
    ...containerColumns(specTemplate),
    wideColumn('Selector', 'string', 'Which pods belong to the job, by their labels.', (object) =>
      selectorText(spec(object).selector),
    ),
  ]),
  'batch/CronJob': kindTable([
    NAME,
    column('Schedule', 'string', 'When a job is started, in cron format.', (object) =>
      textAt(spec(object), 'schedule'),
    ),
    column('Suspend', 'boolean', 'Whether no further jobs are started for now.', suspendText),
    column(
      'Active',
      'integer',
      'How many of its jobs are running.',
      (object) => listAt(status(object), 'active').length,
    ),
    column('Last Schedule', 'string', 'The time since a job was last due.', (object, { nowMs }) => {
      const { lastScheduleTime } = status(object);
      return asTimeMs(lastScheduleTime) === undefined ? '<none>' : ageText(lastScheduleTime, nowMs);
    }),
    AGE,
    ...containerColumns((object) => partAt(jobSpec(object), 'template')),
    wideColumn('Selector', 'string', 'Which pods belong to its jobs, by their labels.', (object) =>
      selectorText(jobSpec(object).selector),
    ),
  ]),
  'policy/PodDisruptionBudget': kindTable([
    NAME,
    column('Min Available', 'string', 'How many pods must stay up, as a number or a share.', (object) =>
      scalarTextAt(spec(object), 'minAvailable', 'N/A'),
    ),
    column('Max Unavailable', 'string', 'How many pods may be down, as a number or a share.', (object) =>
      scalarTextAt(spec(object), 'maxUnavailable', 'N/A'),
    ),
    column('Allowed Disruptions', 'integer', 'How many pods may be evicted now.', (object) =>
      numberAt(status(object), 'disruptionsAllowed'),
    ),
    AGE,
  ]),
};

function autoscaler(dialect: Dialect): KindTable {
  return kindTable([
    NAME,
    column('Reference', 'string', 'What is being scaled.', scaleTargetText),
    column('Targets', 'string', 'For each metric, what is measured and what is aimed at.', metricTargets(dialect)),
    column('MinPods', 'string', 'The fewest pods it scales down to.', (object) =>
      scalarTextAt(spec(object), 'minReplicas', '<unset>'),
    ),
    column('MaxPods', 'string', 'The most pods it scales up to.', (object) => numberAt(spec(object), 'maxReplicas')),
    column('Replicas', 'string', 'How many pods there were when it last looked.', (object) =>
      numberAt(status(object), 'currentReplicas'),
    ),
    AGE,
  ]);
}

export function batchTables(dialect: Dialect): KindTables {
  return { ...BATCH_TABLES, 'autoscaling/HorizontalPodAutoscaler': autoscaler(dialect) };
}
