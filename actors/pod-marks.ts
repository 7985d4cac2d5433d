// What the bytes of a pod's record tell without parsing it, for who follows the store: most pods that are written matter to
// few, and a parse costs more than all else that is done about them.
import type { FeedEvent } from '../storage/store-feed.ts';

const NODE_NAME = Buffer.from('"nodeName"');

/** False: the pod has no spec.nodeName. */
export function mayBeBound(pod: FeedEvent): boolean {
  return pod.mayHave(NODE_NAME);
}

/** Answers for pods whether they have one of these as spec.schedulerName, or may have. */
export function schedulerMark(schedulerNames: readonly string[]): (pod: FeedEvent) => boolean {
  const marks = schedulerNames.map((name) => Buffer.from(`"schedulerName":${JSON.stringify(name)}`));
  return (pod) => marks.some((mark) => pod.mayHave(mark));
}
