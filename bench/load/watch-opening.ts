// How the watches of a load are opened: a connection each over HTTP/1.1, or streams of few connections over HTTP/2; some
// of them stall. Decides nothing about what they see.

import type { WatchJob } from '../load-protocol.ts';
import { PreparedRequest } from '../request-template.ts';
import type { Connection, ConnectionSink, Connector } from './connection.ts';
import { openHttp2Watches } from './http2-watches.ts';

/** Of a stalled watch: what it gets or loses is nobody's business. */
const UNHEARD: ConnectionSink = { onHead() {}, onBody() {}, onEnd() {}, onLost() {} };

/** Opens the watches of a job, the stalled ones beside. Rejects when a connection fails. */
export async function openWatches(
  job: WatchJob,
  connector: Connector,
  watchers: readonly ConnectionSink[],
): Promise<readonly Pick<Connection, 'close'>[]> {
  const stalled = Array.from({ length: job.stalled ?? 0 }, () => ({ ...UNHEARD }));
  const accept = job.accept ?? 'application/json';
  if (job.streamsEach !== undefined) {
    const request = { path: job.watchPath, accept };
    const live = await openHttp2Watches(job.endpoint, request, watchers, job.streamsEach);
    const stuck = await openHttp2Watches(job.endpoint, request, stalled, job.streamsEach);
    for (const stream of stuck) stream.stall();
    return [...live, ...stuck];
  }
  const request = PreparedRequest.compile({ method: 'GET', path: job.watchPath, accept }, job.endpoint);
  const connections: Connection[] = [];
  await connector.openMany(watchers, (_, connection) => {
    connections.push(connection);
    connection.send(request.bytes);
  });
  await connector.openMany(stalled, (_, connection) => {
    connections.push(connection);
    connection.send(request.bytes);
    connection.stall();
  });
  return connections;
}
