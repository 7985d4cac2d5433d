// Rules of how deployments, daemon sets and stateful sets replace their pods.
import { shownIntOrString } from '../../status/shown-value.ts';
import type { Rule, RuleTable } from '../rule.ts';

type IntOrPercent = number | string;

function percentOf(value: IntOrPercent | undefined): number | undefined {
  if (typeof value !== 'string' || !/^\d+%$/.test(value)) return undefined;
  return Number(value.slice(0, -1));
}

/** Of a text that is no percentage the number counts that it is, though it has been reported. */
function isZero(value: IntOrPercent | undefined): boolean {
  if (typeof value !== 'string') return (value ?? 0) === 0;
  return (percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0)) === 0;
}

/** At most all of them. */
export const atMostAll: Rule<IntOrPercent> = (value, at) => {
  if ((percentOf(value) ?? 0) > 100) at.invalid('', shownIntOrString(value), 'must not be greater than 100%');
};

interface RollingUpdate {
  readonly maxUnavailable?: IntOrPercent;
  readonly maxSurge?: IntOrPercent;
}

const unavailableAtMostAll: Rule<RollingUpdate> = ({ maxUnavailable }, at) => {
  at.enter('maxUnavailable');
  if (maxUnavailable !== undefined) atMostAll(maxUnavailable, at);
  at.leave();
};

const rolling: Rule<RollingUpdate> = ({ maxUnavailable, maxSurge }, at) => {
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    at.invalid('maxUnavailable', shownIntOrString(maxUnavailable ?? 0), 'may not be 0 when `maxSurge` is 0');
  }
};

const daemonRolling: Rule<RollingUpdate> = ({ maxUnavailable, maxSurge }, at) => {
  if (at.settings.gate('DaemonSetUpdateSurge')) {
    if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
      at.invalid('maxSurge', shownIntOrString(maxSurge!), 'may not be set when maxUnavailable is non-zero');
    }
    if (!isZero(maxSurge)) return;
  }
  if (isZero(maxUnavailable)) at.invalid('maxUnavailable', shownIntOrString(maxUnavailable ?? 0), 'cannot be 0');
};

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: RollingUpdate | null;
}

const recreate: Rule<Strategy> = ({ type, rollingUpdate }, at) => {
  if (type === 'Recreate' && rollingUpdate) {
    at.forbidden('rollingUpdate', "may not be specified when strategy `type` is 'Recreate'");
  }
};

const daemonStrategy: Rule<Strategy> = ({ type, rollingUpdate }, at) => {
  if (type === 'RollingUpdate' && !rollingUpdate) at.required('rollingUpdate');
};

const onDelete: Rule<Strategy> = ({ type, rollingUpdate }, at) => {
  if (type === 'OnDelete' && rollingUpdate) {
    at.invalid('rollingUpdate', rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'");
  }
};

const BUDGET = { format: 'intOrPercent' } as const;
const COUNT = { min: 0 } as const;

/** What nobody goes by is not looked into. */
const ROLLING = { when: { type: 'RollingUpdate' } } as const;

export const updateStrategyTypes: RuleTable = {
  'apps.DeploymentStrategy': {
    fields: { type: { enum: true, reportedAt: '' }, rollingUpdate: ROLLING },
    rules: ['type', recreate, 'rollingUpdate'],
  },
  'apps.RollingUpdateDeployment': {
    fields: { maxUnavailable: BUDGET, maxSurge: BUDGET },
    rules: ['maxUnavailable', 'maxSurge', rolling, unavailableAtMostAll],
  },
  'apps.DaemonSetUpdateStrategy': {
    fields: { type: { enum: 'listed', reportedAt: '' }, rollingUpdate: ROLLING },
    rules: ['type', daemonStrategy, 'rollingUpdate'],
  },
  'apps.RollingUpdateDaemonSet': {
    fields: { maxUnavailable: BUDGET, maxSurge: { format: 'intOrPercent', rules: [atMostAll] } },
    rules: ['maxUnavailable', daemonRolling, unavailableAtMostAll, 'maxSurge'],
  },
  'apps.StatefulSetUpdateStrategy': {
    fields: {
      type: { required: true, enum: 'listed', reason: 'invalid', reportedAt: '' },
      rollingUpdate: ROLLING,
    },
    rules: ['type', onDelete, 'rollingUpdate'],
  },
  'apps.RollingUpdateStatefulSetStrategy': { fields: { partition: COUNT } },
};
