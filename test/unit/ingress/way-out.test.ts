// What leads out of the server is loaded with the first that asks for it. Where that fails, the next finds it all the same.
import test from 'ava';
import type { IngressProtocol } from '../../../actors/ingress/protocol.ts';
import { NO_JOB_POOL } from '../../../runtime/jobs/job-pool.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { startInProcess } from '../../../runtime/threads/in-process.ts';
import type { Listener } from '../../../transport/http.ts';
import { actorsFor } from '../../server/every-actor.ts';
import { memorySettings } from '../../server/memory-settings.ts';

const SETTINGS = memorySettings('up', ['--data-dir', '/nowhere', '--store-engine', 'memory']);
const DEADLINE = { deadlineMs: 240_000 };
/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

test('what could not be loaded is told to who asked, tried again with the next, and does not keep the ingress from stopping', async (t) => {
  let failures = 3;
  let isClosed = false;
  const listener: Listener = {
    // Looked at as the way out is made.
    get kind() {
      if (failures-- > 0) throw new Error('too many open files');
      return 'node' as const;
    },
    port: 1,
    openConnections: 0,
    replaceTls: () => Promise.resolve(),
    sendAway: () => {},
    stopAccepting: () => {},
    close: async () => {
      isClosed = true;
    },
  };
  const engine = (): never => t.fail('no engine is needed') as never;
  const start = () => {
    const outside = { engine, openListener: () => async () => ({ listener }), jobs: () => NO_JOB_POOL };
    const actors = actorsFor(outside).filter(({ actor }) => actor === 'ingress');
    return startInProcess({ actors, options: SETTINGS, environment: realEnvironment });
  };
  const running = await start();
  const ingress = running.ref<IngressProtocol>('ingress');
  const asks = [
    () => ingress.ask<'tryApiService'>({ type: 'tryApiService', name: 'v1.example.com' }, DEADLINE),
    () => ingress.ask<'sweepNamespace'>({ type: 'sweepNamespace', namespace: 'a' }, DEADLINE),
    () =>
      ingress.ask<'lookUpOwner'>(
        { type: 'lookUpOwner', apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'a', name: 'w' },
        DEADLINE,
      ),
  ];
  for (const ask of asks) await t.throwsAsync<Error>(ask, { message: 'too many open files' });
  t.deepEqual(await asks[0]!(), { finding: undefined });
  await running.stop();
  t.true(isClosed);

  failures = 1;
  isClosed = false;
  const failed = await start();
  await t.throwsAsync(
    failed.ref<IngressProtocol>('ingress').ask<'sweepNamespace'>({ type: 'sweepNamespace', namespace: 'a' }, DEADLINE),
  );
  await failed.stop();
  t.true(isClosed);
});
