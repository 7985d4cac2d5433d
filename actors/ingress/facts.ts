// What is known of the ingress without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';

export const INGRESS_FACTS = {
  actor: 'ingress',
  mailboxMax: 20_000,
  stopOrder: 10,
  placement: {
    beside: { actor: 'hub', because: 'whose memory it reads' },
    absence: { isRefused: true, means: 'nothing can be reached' },
  },
} as const satisfies ActorFacts;
