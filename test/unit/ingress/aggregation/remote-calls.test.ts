// Calls of extension servers for this server's own controllers: they end, whatever takes the time.
import test from 'ava';
import type { Backends } from '../../../../actors/ingress/aggregation/backends.ts';
import { RemoteCalls } from '../../../../actors/ingress/aggregation/remote-calls.ts';
import type { RemoteApiService } from '../../../../api/aggregation/api-service.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { AgentTarget } from '../../../../transport/outgoing/agent-address.ts';
import { VirtualTime } from '../../controllers/virtual-time.ts';

/** Calls of a server that takes so long to be found, and never answers. */
function callsOf(time: VirtualTime, findMs: number): RemoteCalls {
  const send = (_target: AgentTarget, _request: object, onSent: (cancel: () => void) => void): Promise<never> =>
    new Promise((_resolve, reject) => onSent(() => reject(new Error('cancelled'))));
  const of = async () => {
    if (findMs > 0) await new Promise<void>((resolve) => time.timers.after(findMs, resolve));
    return { client: { send }, target: {} };
  };
  const { clock, timers } = time;
  const parts = { backends: { of } as unknown as Backends, dialect: DIALECTS.orch, clock, timers, audit: undefined };
  return new RemoteCalls(parts, 'namespace-controller', 60_000);
}

for (const findMs of [0, 9000, 11_000]) {
  test(`a server that is found after ${findMs} ms and never answers is given up`, async (t) => {
    const time = new VirtualTime();
    let outcome = '';
    void callsOf(time, findMs)
      .call({} as RemoteApiService, { method: 'GET', path: '/apis' })
      .catch((error: Error) => {
        outcome = error.message;
      });
    await time.advance(12_000);
    t.is(outcome, 'GET /apis was not answered in time');
  });
}
