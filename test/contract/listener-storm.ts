// A program whose only thread with a listener ends in the middle of many TLS handshakes. It is aborted when a socket is left
// open. With `replaced` as a second argument its certificate was replaced before. Run by listener-uws.test.ts. Says how many connections were open when the listener was closed, and when it had been.

import { connect } from 'node:tls';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { prepareUws } from '../../transport/uws/binary.ts';
import { openUwsListener } from '../../transport/uws/listener.ts';

const CLIENTS = 200;
const HEADER_BYTES_MAX = 64 * 1024;
/** How long every client is waited for at most. */
const DEAF_MS = 60_000;

interface Given {
  readonly turns: number;
  readonly isReplaced: boolean;
  /** One, once every client has sent its first bytes. Until then the listener's thread is deaf. */
  readonly allSent: Int32Array;
}

if (isMainThread) {
  prepareUws(HEADER_BYTES_MAX);
  const given: Given = {
    turns: Number(process.argv[2]),
    isReplaced: process.argv[3] === 'replaced',
    allSent: new Int32Array(new SharedArrayBuffer(4)),
  };
  const worker = new Worker(new URL(import.meta.url), { workerData: given });
  let connecting = CLIENTS;
  const sent = (): void => {
    Atomics.store(given.allSent, 0, 1);
    Atomics.notify(given.allSent, 0);
  };
  worker.on('message', (message: { port?: number; open?: number[] }) => {
    if (message.open !== undefined) process.stdout.write(`${message.open.join(' ')}\n`);
    if (message.port === undefined) return;
    worker.postMessage('storm');
    for (let i = 0; i < CLIENTS; i++) {
      const socket = connect({ host: '127.0.0.1', port: message.port, rejectUnauthorized: false });
      socket.on('error', () => {});
      // The first message of a handshake goes out as soon as there is a connection.
      socket.once('connect', () => {
        connecting -= 1;
        if (connecting === 0) setImmediate(sent);
      });
    }
  });
  worker.once('exit', () => process.exit(0));
} else {
  const { turns, isReplaced, allSent } = workerData as Given;
  const dates = { notBefore: new Date('2020-01-01'), notAfter: new Date('2040-01-01') };
  const pair = () => makeSelfSigned({ commonName: 'test', names: ['localhost'], ...dates });
  const listener = await openUwsListener({
    host: '127.0.0.1',
    port: 0,
    tls: await pair(),
    headerBytesMax: HEADER_BYTES_MAX,
    idleTimeoutSeconds: 60,
    sharedPort: false,
    handler: () => {},
  });
  if (isReplaced) await listener.replaceTls(await pair());
  parentPort!.postMessage({ port: listener.port });
  parentPort!.once('message', async () => {
    Atomics.wait(allSent, 0, 0, DEAF_MS);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    const before = listener.openConnections;
    await listener.close();
    parentPort!.postMessage({ open: [before, listener.openConnections] });
    setImmediate(() => process.exit(0));
  });
}
