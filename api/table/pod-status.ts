// How far a pod has come, in one word, with its ready containers and restarts: one walk over its container statuses.
import type { JsonObject } from '../json/json-value.ts';
import { isSet, listAt, numberAt, partAt, partsAt, textAt } from '../json/object-fields.ts';
import { conditionOf, isTrue } from './conditions.ts';

export interface PodSummary {
  /** `Running`, `Init:1/2`, `CrashLoopBackOff`, `Terminating`, … */
  readonly status: string;
  readonly readyContainers: number;
  readonly containers: number;
  readonly restarts: number;
}

/** What is shown of a pod's containers. Init containers speak first: until they are done the others do not count. */
export function podSummary(pod: JsonObject): PodSummary {
  const spec = partAt(pod, 'spec');
  const status = partAt(pod, 'status');
  const reason = textAt(status, 'reason');
  const shown = reason === '' ? textAt(status, 'phase') : reason;
  const progress = initProgress(spec, status) ?? runProgress(pod, status, shown);
  return {
    status: isSet(partAt(pod, 'metadata').deletionTimestamp) ? endingStatus(reason) : progress.status,
    readyContainers: progress.ready,
    containers: listAt(spec, 'containers').length,
    restarts: progress.restarts,
  };
}

interface Progress {
  readonly status: string;
  readonly ready: number;
  readonly restarts: number;
}

/** The reason a pod carries when its node can no longer be reached. */
const NODE_LOST = 'NodeLost';

function endingStatus(reason: string): string {
  return reason === NODE_LOST ? 'Unknown' : 'Terminating';
}

/** Where initialization stands; undefined when it is over. */
function initProgress(spec: JsonObject, status: JsonObject): Progress | undefined {
  const statuses = partsAt(status, 'initContainerStatuses');
  let restarts = 0;
  for (let i = 0; i < statuses.length; i++) {
    const container = statuses[i]!;
    restarts += numberAt(container, 'restartCount');
    const { terminated, waiting } = statesOf(container);
    if (terminated !== undefined && numberAt(terminated, 'exitCode') === 0) continue;
    let stage = `${i}/${listAt(spec, 'initContainers').length}`;
    if (terminated !== undefined) {
      stage = textAt(terminated, 'reason') || exitText(terminated);
    } else if (waiting !== undefined) {
      const reason = textAt(waiting, 'reason');
      if (reason !== '' && reason !== 'PodInitializing') stage = reason;
    }
    return { status: `Init:${stage}`, ready: 0, restarts };
  }
  return undefined;
}

/** The regular containers, from the last to the first: the first one that is not well gives the status. */
function runProgress(pod: JsonObject, podStatus: JsonObject, shown: string): Progress {
  const statuses = partsAt(podStatus, 'containerStatuses');
  let status = shown;
  let ready = 0;
  let restarts = 0;
  for (let i = statuses.length - 1; i >= 0; i--) {
    const container = statuses[i]!;
    restarts += numberAt(container, 'restartCount');
    const { running, terminated, waiting } = statesOf(container);
    const waitingReason = waiting === undefined ? '' : textAt(waiting, 'reason');
    if (waitingReason !== '') status = waitingReason;
    else if (terminated !== undefined) status = textAt(terminated, 'reason') || exitText(terminated);
    else if (running && container.ready === true) ready++;
  }
  if (status === 'Completed' && ready > 0) status = isTrue(conditionOf(pod, 'Ready')) ? 'Running' : 'NotReady';
  return { status, ready, restarts };
}

interface ContainerStates {
  readonly running: boolean;
  readonly terminated: JsonObject | undefined;
  readonly waiting: JsonObject | undefined;
}

function statesOf(container: JsonObject): ContainerStates {
  const state = partAt(container, 'state');
  return {
    running: isSet(state.running),
    terminated: isSet(state.terminated) ? partAt(state, 'terminated') : undefined,
    waiting: isSet(state.waiting) ? partAt(state, 'waiting') : undefined,
  };
}

function exitText(terminated: JsonObject): string {
  const signal = numberAt(terminated, 'signal');
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${numberAt(terminated, 'exitCode')}`;
}

/** `<met>/<all>` of a pod's readiness gates; `<none>` without any. */
export function readinessGatesText(pod: JsonObject): string {
  const gates = partsAt(partAt(pod, 'spec'), 'readinessGates');
  if (gates.length === 0) return '<none>';
  // Of two of a type the first counts.
  const conditions = new Map(
    partsAt(partAt(pod, 'status'), 'conditions')
      .toReversed()
      .map((one) => [one.type, one]),
  );
  let met = 0;
  for (const gate of gates) if (isTrue(conditions.get(textAt(gate, 'conditionType')))) met++;
  return `${met}/${gates.length}`;
}
