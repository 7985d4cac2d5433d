// Events of the group of their own: the same objects as those of the core group, under newer names.
import type { JsonObject } from '../json/json-value.ts';
import { renamed, renaming, type StepTable } from './step.ts';

const NAMES_IN_CORE = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};

const event = renaming(NAMES_IN_CORE);

/** An event of the own group as core/v1 has it. */
export function eventInCore(object: JsonObject): JsonObject {
  return renamed(object, NAMES_IN_CORE);
}

const HUB = 'core/v1.Event';

export const eventSteps: StepTable = {
  'events/v1.Event': { hub: HUB, ...event },
  'events/v1beta1.Event': { hub: HUB, ...event },
};
