// The flow schemas and priority levels of a new cluster, and how they are kept: the mandatory ones are made again and set right
// whenever they differ; the suggested ones are made once and belong to the operator from then on. Pure.
import { flowControlObjects } from '../../../api/bootstrap/flow-control.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { HOOK_FLOW_CONTROL } from '../hooks.ts';
import type { Desired } from './desired.ts';

const PLURALS: Readonly<Record<string, string>> = {
  FlowSchema: 'flowschemas',
  PriorityLevelConfiguration: 'prioritylevelconfigurations',
};

/** Who makes them, in managedFields. */
const FIELD_MANAGER = 'api-priority-and-fairness-config-producer-v1';

/** The suggested objects, then the mandatory ones. */
export function desiredFlowControl(dialect: Dialect): Desired[] {
  return (['suggested', 'mandatory'] as const).flatMap((which) => desired(dialect, which));
}

function desired(dialect: Dialect, which: 'suggested' | 'mandatory'): Desired[] {
  const group = dialect.spell('flowcontrol.apiserver.@group');
  return flowControlObjects(dialect, which).map((object) => {
    const resource = PLURALS[object.kind]!;
    const made = {
      storageKey: `${group}/${resource}`,
      target: { group, version: 'v1beta1', resource, subresource: '', namespace: '', name: object.metadata.name },
      object,
      parameters: { fieldManager: FIELD_MANAGER },
      hook: HOOK_FLOW_CONTROL,
    };
    if (which === 'suggested') return { ...made, only: 'onFirstStart', review: 'never' };
    return {
      ...made,
      only: 'afterSuggested',
      review: 'onChange',
      correct: (stored) => (deepEqual(stored.spec, object.spec) ? undefined : { ...stored, spec: object.spec }),
    };
  });
}
