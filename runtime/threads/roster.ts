// What a module must export, as `roster`, for threads to host its actors.
import type { ActorDefinition } from '../actor.ts';
import type { ActorFacts } from '../actor-facts.ts';

export interface Roster<Options> {
  /** Of every actor that a plan may name: those of other threads are sent messages. */
  readonly facts: readonly ActorFacts[];
  /** The code of the named ones, which a thread is to host. It may be that of more. */
  readonly load: (actors: readonly string[]) => Promise<readonly ActorDefinition<Options>[]>;
}
