// Rules of jobs and cron jobs.

import type { JsonObject } from '../../json/json-value.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { EMPTY_SELECTOR_SHOWN, NO_LABELS_SHOWN } from '../../status/shown-value.ts';
import { scheduleProblem } from '../cron-schedule.ts';
import type { Report } from '../report.ts';
import type { ChangeTable, Rule, RuleTable } from '../rule.ts';
import { isEmptySelector, type LabelSelector, type Labels, selects } from './labels.ts';
import type { PodSpec } from './pod-spec.ts';

interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number | null;
  readonly completionMode?: string | null;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean | null;
  readonly template?: { readonly metadata?: { readonly labels?: Labels }; readonly spec?: PodSpec };
}

const INDEXED_PARALLELISM_MAX = 100_000;

const indexed: Rule<JobSpec> = ({ completionMode, completions, parallelism }, at) => {
  if (completionMode !== 'Indexed') return;
  if (completions === undefined || completions === null) {
    at.required('completions', 'when completion mode is Indexed');
  }
  if ((parallelism ?? 0) > INDEXED_PARALLELISM_MAX) {
    at.invalid(
      'parallelism',
      parallelism,
      `must be less than or equal to ${INDEXED_PARALLELISM_MAX} when completion mode is Indexed`,
    );
  }
};

/** Pods of a job come to an end. */
const comesToAnEnd: Rule<JobSpec> = ({ template }, at) => {
  const policy = template?.spec?.restartPolicy ?? '';
  const path = 'template.spec.restartPolicy';
  if (policy === 'Always') at.required(path, 'valid values: "OnFailure", "Never"');
  else if (policy !== '' && policy !== 'OnFailure' && policy !== 'Never')
    at.notSupported(path, policy, ['OnFailure', 'Never']);
};

interface Job extends JsonObject {
  readonly spec?: JobSpec;
}

/** A job is given a selector that nobody else's pods match, unless it brings its own. */
const generated: Rule<Job> = (job, at) => {
  const { spec = {} } = job;
  if (spec.selector && spec.manualSelector !== true) checkGenerated(job, spec, spec.template?.metadata?.labels, at);
};

const selector: Rule<Job> = ({ spec = {} }, at) => {
  const of = spec.template?.metadata?.labels;
  if (!spec.selector) at.required('spec.selector');
  if (!spec.selector || !selects(spec.selector, of)) {
    at.invalid('spec.template.metadata.labels', of ?? NO_LABELS_SHOWN, '`selector` does not match template `labels`');
  }
};

function checkGenerated(job: Job, spec: JobSpec, of: Labels | undefined, at: Report): void {
  const { uid = '', name = '' } = metadataOf(job);
  const wanted: Labels = { 'controller-uid': uid, 'job-name': name };
  for (const key of Object.keys(wanted)) {
    const path = `spec.template.metadata.labels[${key}]`;
    if (of?.[key] === undefined) at.required(path, `must be '${wanted[key]}'`);
    else if (of[key] !== wanted[key]) at.invalid('spec.template.metadata.labels', of, `must be '${wanted[key]}'`);
  }
  if (!selects(spec.selector ?? {}, wanted)) {
    at.invalid('spec.selector', spec.selector, '`selector` not auto-generated');
  }
}

/** Jobs of a cron job get their name and eleven characters of time. */
const CRON_JOB_NAME_MAX = 52;

const cronJobName: Rule<JsonObject> = (cronJob, at) => {
  const { name = '' } = metadataOf(cronJob);
  if (name.length > CRON_JOB_NAME_MAX) {
    at.invalid('metadata.name', name, `must be no more than ${CRON_JOB_NAME_MAX} characters`);
  }
};

const schedule: Rule<string> = (text, at) => {
  const problem = scheduleProblem(text);
  if (problem !== undefined) at.invalid('', text, problem);
};

interface JobTemplate {
  readonly spec?: JobSpec;
}

const jobTemplate: Rule<JobTemplate> = ({ spec }, at) => {
  if (spec?.selector) {
    const shown = isEmptySelector(spec.selector) ? EMPTY_SELECTOR_SHOWN : spec.selector;
    at.invalid('spec.selector', shown, '`selector` will be auto-generated');
  }
  if (spec?.manualSelector === true) at.notSupported('spec.manualSelector', true, ['nil', 'false']);
};

const COUNT = { min: 0 } as const;

export const jobTypes: RuleTable = {
  'batch/v1.Job': { rules: [generated, 'spec', selector] },
  'batch/v1.JobSpec': {
    fields: {
      parallelism: COUNT,
      completions: COUNT,
      activeDeadlineSeconds: COUNT,
      backoffLimit: COUNT,
      ttlSecondsAfterFinished: COUNT,
      completionMode: { enum: 'listed' },
    },
    rules: [indexed, 'template', comesToAnEnd, 'selector'],
  },
  'batch/v1.JobStatus': { fields: { active: COUNT, succeeded: COUNT, failed: COUNT } },
  'batch.CronJob': { rules: ['spec', cronJobName] },
  'batch.CronJobSpec': {
    fields: {
      schedule: { required: true, rules: [schedule] },
      startingDeadlineSeconds: COUNT,
      concurrencyPolicy: { required: true, enum: 'listed' },
      successfulJobsHistoryLimit: COUNT,
      failedJobsHistoryLimit: COUNT,
    },
    rules: ['jobTemplate', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'],
  },
  'batch.JobTemplateSpec': { rules: ['spec', jobTemplate] },
};

const FIXED = { immutable: true } as const;

export const jobUpdates: ChangeTable = {
  'batch/v1.Job': {
    fields: {
      'spec.completions': FIXED,
      'spec.selector': FIXED,
      'spec.template': FIXED,
      'spec.completionMode': FIXED,
    },
  },
};
