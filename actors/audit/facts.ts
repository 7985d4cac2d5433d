// What is known of the audit actor without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';

export const AUDIT_FACTS = {
  actor: 'audit',
  mailboxMax: 16_384,
  // Late, so that the last requests are recorded too.
  stopOrder: 90,
  placement: { absence: { isRefused: false, means: 'no audit events are written' } },
} as const satisfies ActorFacts;
