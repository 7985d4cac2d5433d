// Entry of the bare listener's process: a listener with TLS and nothing behind it. What it does is the least any server on this
// listener must do, so it is the floor of reads, lists and watches. It is the one that the server serves with: uWebSockets.js, or
// Node's own where that has no binary.
//   GET /bytes?n=COUNT        that many bytes of JSON text
//   GET /watch                stays open
//   PUT /publish?frame=BYTES  answers, then sends the body as one event of that size to every open watch
import { loadUws } from '../../transport/uws/binary.ts';
import { listenOnNode } from '../floors/floor-node.ts';
import { listenOnUws } from '../floors/floor-uws.ts';
import type { ListenerJob } from '../load-protocol.ts';

async function listen(job: ListenerJob): Promise<void> {
  const uws = await loadUws().catch(() => undefined);
  const port = await (uws === undefined ? listenOnNode(job) : listenOnUws(uws, job));
  process.send!({ port });
}

process.once('disconnect', () => process.exit(0));
process.once('message', (job: ListenerJob) => {
  listen(job).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
