// The actors with their code. Each worker thread imports this module and creates the actors its placement names.
import type { ActorContext, ActorDefinition } from '../runtime/actor.ts';
import { createJobPool } from '../runtime/job-pool.ts';
import type { EtcdAccess } from '../storage/etcd/etcd-access.ts';
import { LevelEngine } from '../storage/level-engine.ts';
import { MemoryEngine } from '../storage/memory-engine.ts';
import type { StoreEngine } from '../storage/shared-engine.ts';
import { openListener } from '../transport/open-listener.ts';
import { define as admission } from './admission/actor.ts';
import { define as audit } from './audit/actor.ts';
import { define as auth } from './auth/actor.ts';
import { define as controllers } from './controllers/actor.ts';
import type { DefineActor, OutsideWorld } from './define.ts';
import { define as hub } from './hub/actor.ts';
import { define as ingress } from './ingress/actor.ts';
import { define as scheduler } from './scheduler/actor.ts';
import { type ServerSettings, storePrefixOf } from './server-settings.ts';
import { define as store } from './store/actor.ts';

const DEFINITIONS: readonly DefineActor[] = [ingress, auth, audit, admission, hub, store, scheduler, controllers];

/** Every actor, with its part of the settings. */
export function rosterFor(outside: OutsideWorld): readonly ActorDefinition<ServerSettings>[] {
  return DEFINITIONS.map((define) => define(outside));
}

export const roster: readonly ActorDefinition<ServerSettings>[] = rosterFor({
  engine: engineOf,
  openListener: () => openListener,
  jobs: (context) => context.threadLocal('jobs', createJobPool),
  checks: createJobPool,
});

function engineOf(settings: ServerSettings, context: ActorContext): StoreEngine | Promise<StoreEngine> {
  const { options, dialect, dataDirectory, storeEngine, storeAccess } = settings;
  if (storeAccess !== undefined) return etcdEngine(settings, storeAccess, context);
  if (storeEngine === 'memory') return new MemoryEngine(context.random.bytes(32));
  return new LevelEngine({ directory: dataDirectory, prefix: storePrefixOf(options), dialect });
}

/** Loaded where it is asked for: no other server needs Node's HTTP/2 for its store. */
async function etcdEngine(settings: ServerSettings, access: EtcdAccess, context: ActorContext): Promise<StoreEngine> {
  const { engineOnEtcd } = await import('../storage/etcd/engine-on-etcd.ts');
  const { timers, random, log } = context;
  return engineOnEtcd(access, {
    prefix: storePrefixOf(settings.options),
    dialect: settings.dialect,
    timers,
    processId: random.uuid(),
    tokenKey: random.bytes(32),
    warn: (text) => log.warn({}, text),
  });
}
