// Clients that go away while their writes are under way: as in Kubernetes, what nobody waits for is not made.
import { connect as connectHttp2, constants } from 'node:http2';
import { request } from 'node:https';
import { type ListenerName, testOn } from '../server/listeners.ts';
import { MetricsText } from '../server/metrics-text.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { configure, created, MAPS, map, webhookAt, world } from './hooked-server.ts';
import { eventually } from './objects.ts';

/** Sends a create; what is returned makes its client go away without an answer. */
type SendCreate = (server: ServerProcess, name: string) => () => Promise<void>;

const headersOf = ({ token }: ServerProcess): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
});

/** By closing the connection. */
const overHttp1: SendCreate = (server, name) => {
  const { url, caPem } = server;
  const sent = request(`${url}${MAPS}`, { method: 'POST', ca: caPem, agent: false, headers: headersOf(server) });
  sent.on('error', () => {});
  sent.end(JSON.stringify(map(name, 'slow')));
  const closed = new Promise<void>((resolve) => void sent.on('close', resolve));
  return () => {
    sent.destroy();
    return closed;
  };
};

/** By giving up the one stream of a connection that stays. */
const overHttp2: SendCreate = (server, name) => {
  const session = connectHttp2(server.url, { ca: server.caPem });
  session.on('error', () => {});
  const stream = session.request({ ':path': MAPS, ':method': 'POST', ...headersOf(server) });
  stream.on('error', () => {});
  stream.end(JSON.stringify(map(name, 'slow')));
  return async () => {
    stream.close(constants.NGHTTP2_CANCEL);
    await new Promise((resolve) => session.ping(resolve));
    session.destroy();
  };
};

const WAYS: readonly (readonly [listener: ListenerName, way: string, send: SendCreate])[] = [
  ['uws', 'HTTP/1.1', overHttp1],
  ['node', 'HTTP/1.1', overHttp1],
  ['node', 'HTTP/2', overHttp2],
];

for (const [listener, way, send] of WAYS) {
  testOn(listener)(
    `a create whose client goes away while a webhook is asked is not made, and told of as timed out (${way}, ${listener})`,
    async (t) => {
      const answers: (() => void)[] = [];
      const slow = (): Promise<object> => new Promise((resolve) => answers.push(() => resolve({ allowed: true })));
      const at = await world(t, { slow }, ['--ingress', listener]);
      await configure(at, 'validating', 'slow', [webhookAt(at.hooks, 'slow')]);
      const staying = created(at, map('stays', 'slow'));
      const goAway = send(at.server, 'gone');
      await eventually(
        async () => answers.length,
        (length) => length === 2,
      );
      await goAway();
      // What comes behind its end on the same thread is answered when that has been heard of.
      t.is((await at.server.client.get(`${MAPS}/gone`)).status, 404);
      for (const answer of answers) answer();
      t.is((await staying).status, 201);
      await eventually(
        async () => new MetricsText((await at.server.client.get('/metrics')).text),
        (metrics) =>
          metrics.sum('apiserver_request_terminations_total', { verb: 'POST', resource: 'configmaps', code: '504' }) ===
          1,
      );
      t.is((await at.server.client.get(`${MAPS}/gone`)).status, 404);
    },
  );
}
