// Every actor there is: what is known of it without loading its code, with which the main thread resolves a placement. Its code
// has a line in roster.ts, which only the other threads load.
import type { ActorFacts } from '../runtime/actor-facts.ts';
import { ADMISSION_FACTS } from './admission/facts.ts';
import { AUDIT_FACTS } from './audit/facts.ts';
import { AUTH_FACTS } from './auth/facts.ts';
import { CONTROLLERS_FACTS } from './controllers/facts.ts';
import { HUB_FACTS } from './hub/facts.ts';
import { INGRESS_FACTS } from './ingress/facts.ts';
import { SCHEDULER_FACTS } from './scheduler/facts.ts';
import { STORE_FACTS } from './store/facts.ts';

/** In the order of roster.ts. */
export const ACTORS: readonly ActorFacts[] = [
  INGRESS_FACTS,
  AUTH_FACTS,
  AUDIT_FACTS,
  ADMISSION_FACTS,
  HUB_FACTS,
  STORE_FACTS,
  SCHEDULER_FACTS,
  CONTROLLERS_FACTS,
];
