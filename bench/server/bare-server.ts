// The bare server as a process: what `--bare` measures in the place of the server (bench/processes/bare-server.ts says what it does).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSignedPair } from '../../transport/tls/self-signed-pair.ts';
import type { Children } from '../children.ts';
import type { BareServerJob } from '../load-protocol.ts';
import type { ServerProcess } from './server-process.ts';

const START_DEADLINE_MS = 20_000;

/** Starts one in a folder. Rejects where there is no binary of uWebSockets.js for this machine. */
export async function startBareServer(children: Children, directory: string): Promise<ServerProcess> {
  // As the server does: the same kind of key, so that handshakes cost the same.
  const { certFile, keyFile } = await selfSignedPair(directory);
  const startedMs = performance.now();
  const child = children.fork('bare-server');
  const job: BareServerJob = { keyFile, certFile, directory: join(directory, 'store') };
  const { port } = await children.ask<{ port: number }>(child, job, START_DEADLINE_MS);
  const startMs = performance.now() - startedMs;
  return {
    pid: child.pid!,
    endpoint: { host: '127.0.0.1', port, tls: { ca: readFileSync(certFile, 'utf8') } },
    readyMs: startMs,
    startMs,
    checkAlive: () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('the bare server ended by itself');
    },
    stop: () => children.stop(child),
  };
}
