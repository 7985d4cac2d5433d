// PrioritySort: the pod of higher priority is tried first, and among equals the one that has waited longer.
import type { QueueSortPlugin } from '../framework/framework.ts';

export const prioritySort: QueueSortPlugin = {
  name: 'PrioritySort',
  before(a, b) {
    return a.pod.priority === b.pod.priority ? a.queuedMs < b.queuedMs : a.pod.priority > b.pod.priority;
  },
};
