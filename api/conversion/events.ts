// Events of the group of their own: the same objects as those of the core group, under newer names.
import { type Pair, renaming, type StepTable } from './step.ts';

const event: Pair = renaming({
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
});

const HUB = 'core/v1.Event';

export const eventSteps: StepTable = {
  'events/v1.Event': { hub: HUB, ...event },
  'events/v1beta1.Event': { hub: HUB, ...event },
};
