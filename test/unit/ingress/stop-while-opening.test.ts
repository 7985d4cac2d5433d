// A thread cannot end while a native socket is open on it: a listener that opens after its ingress was stopped is closed.
import test from 'ava';
import type { ServerSettings } from '../../../actors/server-settings.ts';
import type { ActorDefinition } from '../../../runtime/actor.ts';
import { NO_JOB_POOL } from '../../../runtime/jobs/job-pool.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { startInProcess } from '../../../runtime/threads/in-process.ts';
import type { Listener } from '../../../transport/http.ts';
import type { OpenedListener } from '../../../transport/open-listener.ts';
import { actorsFor } from '../../server/every-actor.ts';
import { memorySettings } from '../../server/memory-settings.ts';

const SETTINGS = memorySettings('up', ['--data-dir', '/nowhere', '--store-engine', 'memory']);

test('a listener that opens after its ingress was stopped is closed again', async (t) => {
  let open: (opened: OpenedListener) => void = () => {};
  const opening = new Promise<OpenedListener>((resolve) => {
    open = resolve;
  });
  const engine = (): never => t.fail('no engine is needed') as never;
  const outside = { engine, openListener: () => () => opening, jobs: () => NO_JOB_POOL };
  const ingress = actorsFor(outside).filter(({ actor }) => actor === 'ingress');
  const failing: ActorDefinition<ServerSettings> = {
    actor: 'failing',
    mailboxMax: 1,
    stopOrder: 1,
    create: () => ({ onMessage() {}, start: () => Promise.reject(new Error('on purpose')) }),
  };
  const actors = [...ingress, failing];
  // Everything is stopped because one actor could not start, while the ingress still does.
  await t.throwsAsync(startInProcess({ actors, options: SETTINGS, environment: realEnvironment }), {
    message: 'on purpose',
  });
  let accepting = true;
  const closed = new Promise<void>((resolve) => {
    const listener: Listener = {
      kind: 'uws',
      port: 1,
      openConnections: 0,
      replaceTls: () => Promise.resolve(),
      sendAway: () => {},
      stopAccepting() {
        accepting = false;
      },
      async close() {
        resolve();
      },
    };
    open({ listener });
  });
  await closed;
  t.false(accepting);
});
