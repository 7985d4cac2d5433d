// What is known of the controllers without their code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import { FEED_FORMS } from '../following/store-feed-forms.ts';

export const CONTROLLERS_FACTS = {
  actor: 'controllers',
  mailboxMax: 4096,
  stopOrder: 20,
  flat: FEED_FORMS,
  placement: {
    isSingle: true,
    absence: { isRefused: false, means: 'nothing is cleaned up or allocated in the background' },
    takes: ['reader'],
  },
} as const satisfies ActorFacts;
