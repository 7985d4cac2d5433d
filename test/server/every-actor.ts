// Every actor of the server, loaded: a thread of the server loads those that it hosts.
import { define as admission } from '../../actors/admission/actor.ts';
import { define as audit } from '../../actors/audit/actor.ts';
import { define as auth } from '../../actors/auth/actor.ts';
import { define as controllers } from '../../actors/controllers/actor.ts';
import type { OutsideWorld } from '../../actors/define.ts';
import { define as hub } from '../../actors/hub/actor.ts';
import { define as ingress } from '../../actors/ingress/actor.ts';
import { OUTSIDE } from '../../actors/roster.ts';
import { define as scheduler } from '../../actors/scheduler/actor.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import { define as store } from '../../actors/store/actor.ts';
import { engineFor } from '../../actors/store/engines.ts';
import type { ActorDefinition } from '../../runtime/actor.ts';

/** In the order of actors/actors.ts. */
const DEFINES = [ingress, auth, audit, admission, hub, store, scheduler, controllers];

/** Every actor, with its part of the settings. */
export function actorsFor(outside: OutsideWorld): readonly ActorDefinition<ServerSettings>[] {
  return DEFINES.map((define) => define(outside));
}

/** The engine is made at once: loading it would let virtual time pass. */
export const everyActor = actorsFor({ ...OUTSIDE, engine: engineFor });
