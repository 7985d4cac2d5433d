// What a pod's record tells without parsing it, for who follows the store: most pods that are written matter to few, and a parse
// costs more than all else that is done about them. Goes by the fields that are stored with a pod to select it by.
import { CORE_TYPES } from '../api/resources/types-core.ts';
import type { FeedEvent } from '../storage/following/store-feed.ts';
import { fieldText } from '../storage/records/record-fields.ts';

/** KnownType.storedFields of pods. */
const FIELDS = CORE_TYPES.types.find(({ plural }) => plural === 'pods')?.selectableFields ?? [];
const NODE_NAME = FIELDS.indexOf('spec.nodeName');
const SCHEDULER_NAME = FIELDS.indexOf('spec.schedulerName');
const NO_NODE = fieldText('');

/** False: the pod has no spec.nodeName. */
export function mayBeBound(pod: FeedEvent): boolean {
  return !pod.fieldIs(NODE_NAME, NO_NODE);
}

/** Answers for pods whether they have one of these as spec.schedulerName. */
export function schedulerMark(schedulerNames: readonly string[]): (pod: FeedEvent) => boolean {
  const marks = schedulerNames.map(fieldText);
  return (pod) => marks.some((mark) => pod.fieldIs(SCHEDULER_NAME, mark));
}
