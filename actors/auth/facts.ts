// What is known of the auth actor without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import { FEED_FORMS } from '../following/store-feed-forms.ts';

export const AUTH_FACTS = {
  actor: 'auth',
  mailboxMax: 20_000,
  stopOrder: 70,
  flat: FEED_FORMS,
  placement: {
    beside: { actor: 'hub', because: 'whose memory it reads' },
    absence: { isRefused: true, means: 'nobody can be let in' },
    takes: ['reader'],
  },
} as const satisfies ActorFacts;
