// What is known of admission without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import { FEED_FORMS } from '../following/store-feed-forms.ts';

export const ADMISSION_FACTS = {
  actor: 'admission',
  mailboxMax: 5000,
  stopOrder: 40,
  flat: FEED_FORMS,
  placement: {
    beside: { actor: 'hub', because: 'whose memory it reads' },
    absence: { isRefused: true, means: 'nothing can be written' },
    takes: ['reader'],
  },
} as const satisfies ActorFacts;
