// Pods: what their creation adds, their addresses in step, and how long they may take to end.

import type { JsonObject } from '../../json/json-value.ts';
import { asObject, textAt } from '../../json/object-fields.ts';
import type { Own } from '../../json/own-copy.ts';
import { graceSecondsOf } from '../../metadata/deletion.ts';
import { qosClassOf } from '../../pods/quality-of-service.ts';
import { withSeccompInStep } from '../../pods/seccomp.ts';
import { selectableValues } from '../../selectors/selectable-values.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';
import { type FirstOfList, withFirstInStep } from './first-of-list.ts';

function begun(pod: JsonObject, { dialect }: WriteFacts): JsonObject {
  const inStep = withSeccompInStep(pod, dialect);
  (inStep.status as Own<JsonObject>).qosClass = qosClassOf(inStep);
  return inStep;
}

/** Bound to no node, or ended already: nobody has anything to end. */
const ENDS_AT_ONCE: NonNullable<Strategy['endsAtOnce']> = [
  ['spec.nodeName', ''],
  ['status.phase', 'Failed'],
  ['status.phase', 'Succeeded'],
];
const ENDING_FIELDS = ENDS_AT_ONCE.map(([field]) => field);

/** Facts: option, else the pod's own period, else 0; 0 when it is bound to no node or has ended. */
function graceSeconds(pod: JsonObject, askedSeconds: number | undefined): number {
  const values = selectableValues(pod, ENDING_FIELDS);
  if (ENDS_AT_ONCE.some(([, text], index) => values[index] === text)) return 0;
  const { terminationGracePeriodSeconds } = asObject(pod.spec) as { terminationGracePeriodSeconds?: number };
  return graceSecondsOf(askedSeconds ?? terminationGracePeriodSeconds ?? 0);
}

const ADDRESSES: FirstOfList = {
  part: 'status',
  field: 'podIP',
  list: 'podIPs',
  item: (ip) => ({ ip }),
  textOf: (item) => textAt(asObject(item), 'ip'),
};

const inStep = (pod: JsonObject): JsonObject => withFirstInStep(pod, ADDRESSES);

export const pod: Strategy = { inStep, onCreate: begun, graceSeconds, endsAtOnce: ENDS_AT_ONCE };
