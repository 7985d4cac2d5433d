// The real actors over an engine with a bug: it says that a batch is durable as soon as it has been handed to the disk.

import type { ServerSettings } from '../../actors/server-settings.ts';
import { createJobPool } from '../../runtime/jobs/job-pool.ts';
import type { Roster } from '../../runtime/threads/roster.ts';
import type { EngineBatch, LocalEngine } from '../../storage/engines/local-engine.ts';
import { LevelEngine } from '../../storage/level/level-engine.ts';
import { openListener } from '../../transport/open-listener.ts';
import { actorsFor } from '../server/every-actor.ts';

function hasty(engine: LocalEngine): LocalEngine {
  let written: Promise<void> = Promise.resolve();
  const commit = (batch: EngineBatch): Promise<void> => {
    // The store uses the batch's memory again as soon as it is told that the batch is durable.
    const copy = {
      ...batch,
      events: Uint8Array.from(batch.events),
      writes: batch.writes.map(({ key, value }) => ({ key, value: value && Uint8Array.from(value) })),
    };
    written = written.then(() => engine.commit(copy));
    return Promise.resolve();
  };
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'commit') return commit;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

const actors = actorsFor({
  engine: ({ dataDirectory, dialect }) =>
    hasty(new LevelEngine({ directory: dataDirectory, prefix: '/registry', dialect })),
  openListener: () => openListener,
  jobs: () => createJobPool(),
  checks: () => createJobPool(),
});

export const roster: Roster<ServerSettings> = { facts: actors, load: () => Promise.resolve(actors) };
