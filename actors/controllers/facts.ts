// What is known of the controllers without their code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';

export const CONTROLLERS_FACTS = {
  actor: 'controllers',
  mailboxMax: 4096,
  stopOrder: 20,
  placement: {
    isSingle: true,
    absence: { isRefused: false, means: 'nothing is cleaned up or allocated in the background' },
    takes: ['reader'],
  },
} as const satisfies ActorFacts;
