// A thread with a listener that answers its own name; ends when it is told to.
import { parentPort, workerData } from 'node:worker_threads';
import { openUwsListener } from '../../transport/uws/listener.ts';

const { port, name, headerBytesMax } = workerData as { port: number; name: string; headerBytesMax: number };

const listener = await openUwsListener({
  host: '127.0.0.1',
  port,
  headerBytesMax,
  idleTimeoutSeconds: 60,
  sharedPort: true,
  handler: (_, response) => response.respond(200, [], name),
});
parentPort?.postMessage(listener.port);
parentPort?.once('message', () => void listener.close());
