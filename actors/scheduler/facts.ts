// What is known of the scheduler without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import { FEED_FORMS } from '../following/store-feed-forms.ts';
import { SCHEDULER_RANGES, SCHEDULER_SETTINGS } from './settings.ts';

export const SCHEDULER_FACTS = {
  actor: 'scheduler',
  mailboxMax: 1024,
  stopOrder: 20,
  flat: FEED_FORMS,
  settings: SCHEDULER_SETTINGS,
  ranges: SCHEDULER_RANGES,
  placement: {
    isSingle: true,
    absence: { isRefused: false, means: 'pods are not given nodes' },
    takes: ['reader'],
  },
} as const satisfies ActorFacts;
