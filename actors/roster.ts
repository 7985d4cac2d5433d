// The actors' code, which each worker thread loads of those that its placement names: what the others are made of would be read
// and evaluated on every thread, a quarter of what a start takes there.
import type { ActorContext } from '../runtime/actor.ts';
import { createJobPool, type JobPool } from '../runtime/jobs/job-pool.ts';
import type { Roster } from '../runtime/threads/roster.ts';
import { openListener } from '../transport/open-listener.ts';
import { ACTORS } from './actors.ts';
import type { DefineActor, OutsideWorld } from './define.ts';
import type { ServerSettings } from './server-settings.ts';

type ActorModule = { readonly define: DefineActor };

const MODULES: Readonly<Record<string, () => Promise<ActorModule>>> = {
  ingress: () => import('./ingress/actor.ts'),
  auth: () => import('./auth/actor.ts'),
  audit: () => import('./audit/actor.ts'),
  admission: () => import('./admission/actor.ts'),
  hub: () => import('./hub/actor.ts'),
  store: () => import('./store/actor.ts'),
  scheduler: () => import('./scheduler/actor.ts'),
  controllers: () => import('./controllers/actor.ts'),
};

function jobPool({ log }: ActorContext): JobPool {
  const onFailure = (error: unknown): void => log.error({ err: error }, 'no thread starts for long work');
  return createJobPool({ onFailure });
}

/** What the actors of a server own outside the process. */
export const OUTSIDE: OutsideWorld = {
  engine: async (settings, context, encryption) => {
    const { engineFor } = await import('./store/engines.ts');
    return engineFor(settings, context, encryption);
  },
  openListener: () => openListener,
  jobs: (context) => context.threadLocal('jobs', () => jobPool(context)),
  checks: jobPool,
};

/** Every actor, with its part of the settings. */
export const roster: Roster<ServerSettings> = {
  facts: ACTORS,
  load: async (actors) => {
    const modules = await Promise.all(actors.map((actor) => MODULES[actor]!()));
    return modules.map(({ define }) => define(OUTSIDE));
  },
};
