// Priority classes: those of the system's own pods stay.
import { SYSTEM_CLASSES } from '../../validation/kinds/scheduling.ts';
import type { Strategy } from '../strategy.ts';

export const priorityClass: Strategy = {
  keptFor: (name) =>
    Object.hasOwn(SYSTEM_CLASSES, name) ? 'this is a system priority class and cannot be deleted' : undefined,
};
