// What is known of the ingress without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import { FEED_FORMS } from '../following/store-feed-forms.ts';

export const INGRESS_FACTS = {
  actor: 'ingress',
  mailboxMax: 20_000,
  stopOrder: 10,
  flat: FEED_FORMS,
  placement: {
    beside: { actor: 'hub', because: 'whose memory it reads' },
    absence: { isRefused: true, means: 'nothing can be reached' },
    takes: ['reader'],
  },
} as const satisfies ActorFacts;
