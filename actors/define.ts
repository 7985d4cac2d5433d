// How an actor becomes part of the server: what each `actors/<name>/actor.ts` exports, and what it may be given of the world
// outside the process.
import type { ActorContext, ActorDefinition } from '../runtime/actor.ts';
import type { JobPool } from '../runtime/jobs/job-pool.ts';
import type { StoredEncryption } from '../storage/encryption/stored-encryption.ts';
import type { StoreEngine } from '../storage/engines/shared-engine.ts';
import type { OpenListener } from '../transport/open-listener.ts';
import type { MakeWebhookClient } from '../transport/outgoing/service-client.ts';
import type { ServerSettings } from './server-settings.ts';

/** What actors own outside the process. A simulation puts its own in these places, and only in these. */
export interface OutsideWorld {
  /** The store's engine, unopened. `encryption`: for one that keeps the form of its values itself. */
  readonly engine: (
    settings: ServerSettings,
    context: ActorContext,
    encryption: StoredEncryption | undefined,
  ) => StoreEngine | Promise<StoreEngine>;
  readonly openListener: (context: ActorContext) => OpenListener;
  /** The pool of the actor's thread. */
  readonly jobs: (context: ActorContext) => JobPool;
  /** The pool for checks of objects that take long; absent: they are made where they come up. */
  readonly checks?: (context: ActorContext) => JobPool;
  /** A client of an admission webhook; absent: over the network. */
  readonly webhookClient?: MakeWebhookClient;
}

/** `define` of an actor's `actor.ts`: the actor, made from the server's settings. */
export type DefineActor = (outside: OutsideWorld) => ActorDefinition<ServerSettings>;

/** An actor that picks its options out of the server's settings. */
export function withSettings<Options>(
  definition: ActorDefinition<Options>,
  pick: (settings: ServerSettings, context: ActorContext) => Options,
): ActorDefinition<ServerSettings> {
  return { ...definition, create: (context, settings) => definition.create(context, pick(settings, context)) };
}
