// Rules of what makes pods from templates: deployments, replica sets, replication controllers, daemon sets, stateful
// sets and their revisions. Jobs are in jobs.ts.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { isSet } from '../../json/object-fields.ts';
import { EMPTY_SELECTOR_SHOWN, NO_LABELS_SHOWN } from '../../status/shown-value.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, ChangeRules, ChangeTable, Rule, RuleTable } from '../rule.ts';
import { hasLabels, isEmptySelector, isReadable, type LabelSelector, type Labels, selects } from './labels.ts';
import { templateMetadata } from './pod.ts';
import type { PodSpec } from './pod-spec.ts';

interface Template {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec?: PodSpec;
}

interface WorkloadSpec {
  readonly selector?: LabelSelector;
  readonly template?: Template;
}

/** The selector is there and not empty. */
const neededSelector = (of: string) => {
  const notEmpty: Rule<LabelSelector> = (selector, at) => {
    if (isEmptySelector(selector)) at.invalid('', EMPTY_SELECTOR_SHOWN, `empty selector is invalid for ${of}`);
  };
  return { required: true, rules: [notEmpty] } as const;
};

/** Beyond its form: the selector has no value that no label can have. */
const readableSelector =
  (detail: string): Rule<WorkloadSpec> =>
  ({ selector }, at) => {
    if (!isReadable(selector)) at.invalid('selector', selector, detail);
  };

/** Under a selector that cannot be read the template is not looked into. */
const selectable = ({ selector }: WorkloadSpec): boolean => isReadable(selector);

const selectsTemplate: Rule<WorkloadSpec> = ({ selector, template }, at) => {
  // One without terms has been reported.
  if (selector && isEmptySelector(selector)) return;
  const of = template?.metadata?.labels;
  // One that is missing selects nothing.
  if (selector && selects(selector, of)) return;
  at.invalid('template.metadata.labels', of ?? NO_LABELS_SHOWN, '`selector` does not match template `labels`');
};

/** Pods that are to run for ever: they are started again, and have no deadline. */
const runsForEver =
  (of: string): Rule<Pick<WorkloadSpec, 'template'>> =>
  ({ template }, at) => {
    const { restartPolicy, activeDeadlineSeconds } = template?.spec ?? {};
    if (restartPolicy !== undefined && restartPolicy !== 'Always') {
      at.notSupported('template.spec.restartPolicy', restartPolicy, ['Always']);
    }
    if (activeDeadlineSeconds !== undefined && activeDeadlineSeconds !== null) {
      at.forbidden('template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${of} is not Supported`);
    }
  };

interface Disk {
  readonly gcePersistentDisk?: { readonly readOnly?: boolean };
}

/** A disk that one node can write to can be read only by the pods of several. */
function checkSharedDisks(template: Template | undefined, at: Report): void {
  for (const [index, volume] of (template?.spec?.volumes ?? []).entries()) {
    const { gcePersistentDisk } = volume as Disk;
    if (gcePersistentDisk && gcePersistentDisk.readOnly !== true) {
      const path = `template.spec.volumes[${index}].gcePersistentDisk.readOnly`;
      at.invalid(
        path,
        false,
        'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only',
      );
    }
  }
}

const disksOfReplicas: Rule<WorkloadSpec & { readonly replicas?: number }> = ({ replicas = 0, template }, at) => {
  if (replicas > 1) checkSharedDisks(template, at);
};

const disksOfNodes: Rule<WorkloadSpec> = ({ template }, at) => checkSharedDisks(template, at);

const plainSelector: Rule<{ readonly selector?: Labels }> = ({ selector = {} }, at) => {
  if (Object.keys(selector).length === 0) at.required('selector');
};

const plainSelects: Rule<{ readonly selector?: Labels; readonly template?: Template }> = (
  { selector = {}, template },
  at,
) => {
  const of = template?.metadata?.labels;
  if (template && !hasLabels(of, selector)) {
    at.invalid('template.metadata.labels', of ?? NO_LABELS_SHOWN, '`selector` does not match template `labels`');
  }
};

const someTerms: Rule<WorkloadSpec> = ({ selector }, at) => {
  if (selector && isEmptySelector(selector)) {
    at.invalid('selector', EMPTY_SELECTOR_SHOWN, 'empty selector is invalid for daemonset');
  }
};

/** Of the template of a stateful set its metadata is looked at, and not what its pods are. */
const metadataOnly: Rule<WorkloadSpec> = ({ template }, at) => {
  if (template === undefined) return;
  at.enter('template');
  templateMetadata(template, at);
  at.leave();
};

const progress: Rule<{ progressDeadlineSeconds?: number; minReadySeconds?: number }> = (spec, at) => {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (deadline !== undefined && deadline !== null && deadline <= minReadySeconds) {
    at.invalid('progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds');
  }
};

/** One count is not more than another. */
function notMore(count: string, than: string): Rule<Readonly<Record<string, number | undefined>>> {
  return (status, at) => {
    const value = status[count] ?? 0;
    if (value > (status[than] ?? 0))
      at.invalid(count, value, `cannot be greater than ${than === 'replicas' ? 'status.' : ''}${than}`);
  };
}

/** Counts that are not negative, and how they go together. */
function counts(names: readonly string[], rules: readonly [string, string][]): RuleTable[string] {
  return {
    fields: Object.fromEntries(names.map((name) => [name, { min: 0 }])),
    rules: rules.map(([count, than]) => notMore(count, than)),
  };
}

const collisions: ChangeRule<number | undefined> = (next, stored, at) => {
  // None is less than any, and nothing is less than none.
  if (stored !== undefined && (next === undefined || next < stored)) at.invalid('', next ?? 0, 'cannot be decremented');
};

const collisionCount: ChangeRules = { fields: { 'status.collisionCount': { rules: [collisions] } } };

const STATEFUL_CHANGEABLE: ReadonlySet<string> = new Set(['replicas', 'template', 'updateStrategy']);

const statefulChange: ChangeRule<{ readonly spec?: JsonObject }> = ({ spec = {} }, { spec: before = {} }, at) => {
  for (const name of new Set([...Object.keys(spec), ...Object.keys(before)])) {
    if (STATEFUL_CHANGEABLE.has(name) || deepEqual(spec[name], before[name])) continue;
    const detail =
      "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden";
    at.forbidden('spec', detail);
    return;
  }
};

/** Whatever it is, an empty list among them. */
const revisionData: Rule<{ readonly data?: unknown }> = ({ data }, at) => {
  if (!isSet(data)) at.required('data', 'data is mandatory');
};

const COUNT = { min: 0 } as const;
const DEPLOYED = {
  selector: neededSelector('deployment'),
  template: { when: selectable },
} as const;
const readableDeployed = readableSelector('invalid label selector');

const replicaStatus = counts(
  ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  [
    ['fullyLabeledReplicas', 'replicas'],
    ['readyReplicas', 'replicas'],
    ['availableReplicas', 'replicas'],
    ['availableReplicas', 'readyReplicas'],
  ],
);

export const workloadTypes: RuleTable = {
  'apps.DeploymentSpec': {
    fields: {
      replicas: COUNT,
      ...DEPLOYED,
      minReadySeconds: COUNT,
      revisionHistoryLimit: COUNT,
      progressDeadlineSeconds: COUNT,
    },
    rules: [
      'replicas',
      'selector',
      readableDeployed,
      selectsTemplate,
      'template',
      runsForEver('ReplicaSet'),
      'strategy',
      'minReadySeconds',
      'revisionHistoryLimit',
      'progressDeadlineSeconds',
      progress,
    ],
  },
  'apps.DeploymentStatus': counts(
    [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'collisionCount',
    ],
    [
      ['updatedReplicas', 'replicas'],
      ['readyReplicas', 'replicas'],
      ['availableReplicas', 'replicas'],
      ['availableReplicas', 'readyReplicas'],
    ],
  ),
  'apps.ReplicaSetSpec': {
    fields: { replicas: COUNT, minReadySeconds: COUNT, ...DEPLOYED },
    rules: [
      'replicas',
      'minReadySeconds',
      'selector',
      readableDeployed,
      selectsTemplate,
      'template',
      disksOfReplicas,
      runsForEver('ReplicaSet'),
    ],
  },
  'apps.ReplicaSetStatus': replicaStatus,
  'core/v1.ReplicationControllerSpec': {
    fields: { replicas: COUNT, minReadySeconds: COUNT, template: { required: true } },
    rules: [
      'minReadySeconds',
      plainSelector,
      'replicas',
      plainSelects,
      'template',
      disksOfReplicas,
      runsForEver('ReplicationController'),
    ],
  },
  'core/v1.ReplicationControllerStatus': replicaStatus,
  'apps.DaemonSetSpec': {
    fields: {
      minReadySeconds: COUNT,
      revisionHistoryLimit: COUNT,
    },
    rules: [
      'selector',
      selectsTemplate,
      someTerms,
      'template',
      disksOfNodes,
      runsForEver('DaemonSet'),
      'minReadySeconds',
      'updateStrategy',
      'revisionHistoryLimit',
    ],
  },
  'apps.DaemonSetStatus': counts(
    [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
    [],
  ),
  'apps.StatefulSetSpec': {
    fields: {
      podManagementPolicy: { required: true, enum: 'listed', reason: 'invalid' },
      replicas: COUNT,
      selector: neededSelector('statefulset'),
      // A template is held to what the set depends on only.
      template: { opaque: true },
      volumeClaimTemplates: { opaque: true },
    },
    rules: [
      'podManagementPolicy',
      'updateStrategy',
      'replicas',
      'selector',
      readableSelector(''),
      selectsTemplate,
      metadataOnly,
      runsForEver('StatefulSet'),
    ],
  },
  'apps.StatefulSetStatus': counts(
    ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'observedGeneration', 'collisionCount'],
    [
      ['readyReplicas', 'replicas'],
      ['currentReplicas', 'replicas'],
      ['updatedReplicas', 'replicas'],
    ],
  ),
  'apps.ControllerRevision': { fields: { revision: COUNT }, rules: [revisionData, 'revision'] },
  'autoscaling.ScaleSpec': { fields: { replicas: COUNT } },
};

export const workloadUpdates: ChangeTable = {
  'apps.Deployment': { fields: { 'spec.selector': { immutable: true } } },
  'apps.ReplicaSet': { fields: { 'spec.selector': { immutable: true } } },
  'apps.DaemonSet': { fields: { 'spec.selector': { immutable: true } } },
  'apps.StatefulSet': { rules: [statefulChange] },
  'apps.ControllerRevision': { fields: { data: { immutable: true } } },
};

export const workloadStatusUpdates: ChangeTable = {
  'apps.Deployment': collisionCount,
  'apps.StatefulSet': collisionCount,
  'apps.DaemonSet': collisionCount,
};
