// Every actor there is: one folder and one line here. What is known of it without loading its code, with which the main
// thread resolves a placement, and how its code is loaded, which only the other threads do.
import type { ActorFacts } from '../runtime/actor-facts.ts';
import { ADMISSION_FACTS } from './admission/facts.ts';
import { AUDIT_FACTS } from './audit/facts.ts';
import { AUTH_FACTS } from './auth/facts.ts';
import { CONTROLLERS_FACTS } from './controllers/facts.ts';
import type { DefineActor } from './define.ts';
import { HUB_FACTS } from './hub/facts.ts';
import { INGRESS_FACTS } from './ingress/facts.ts';
import { SCHEDULER_FACTS } from './scheduler/facts.ts';
import { STORE_FACTS } from './store/facts.ts';

interface ListedActor {
  readonly facts: ActorFacts;
  readonly load: () => Promise<{ readonly define: DefineActor }>;
}

export const ACTORS: readonly ListedActor[] = [
  { facts: INGRESS_FACTS, load: () => import('./ingress/actor.ts') },
  { facts: AUTH_FACTS, load: () => import('./auth/actor.ts') },
  { facts: AUDIT_FACTS, load: () => import('./audit/actor.ts') },
  { facts: ADMISSION_FACTS, load: () => import('./admission/actor.ts') },
  { facts: HUB_FACTS, load: () => import('./hub/actor.ts') },
  { facts: STORE_FACTS, load: () => import('./store/actor.ts') },
  { facts: SCHEDULER_FACTS, load: () => import('./scheduler/actor.ts') },
  { facts: CONTROLLERS_FACTS, load: () => import('./controllers/actor.ts') },
];
