// The server under load, as shipped: `orch up` with TLS and every stage on, on a data directory of its own.
import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Children } from './children.ts';
import { readConnectionFile } from './kubeconfig.ts';
import type { Endpoint } from './load-protocol.ts';

const READY_LINE = /ready in ([\d.]+) ms/;
const READY_DEADLINE_MS = 120_000;
const KEPT_OUTPUT = 4_000;

export interface ServerSettings {
  readonly dataDir: string;
  readonly placement: string;
  /** Further options of the server, `name=value` or `name`. */
  readonly options: readonly string[];
}

export interface ServerProcess {
  readonly pid: number;
  readonly endpoint: Endpoint;
  /** What the server itself says. */
  readonly readyMs: number;
  /** From the start of the process to its ready line. */
  readonly startMs: number;
  /** Resolves when the process has ended by SIGTERM. */
  stop(): Promise<void>;
}

/** Starts a server and waits until it is ready. Rejects with the end of its output when it does not get there. */
export async function startServer(children: Children, settings: ServerSettings): Promise<ServerProcess> {
  const port = await freePort();
  const program = fileURLToPath(new URL('../bin/orch.js', import.meta.url));
  const startedMs = performance.now();
  const child = children.spawnNode([
    program,
    'up',
    `--data-dir=${settings.dataDir}`,
    `--secure-port=${port}`,
    `--placement=${settings.placement}`,
    ...settings.options.map((option) => `--${option}`),
  ]);
  try {
    const readyMs = await readyTime(child);
    return {
      pid: child.pid!,
      endpoint: readConnectionFile(join(settings.dataDir, 'admin.conf')),
      readyMs,
      startMs: performance.now() - startedMs,
      stop: () => children.stop(child),
    };
  } catch (error) {
    await children.stop(child);
    throw error;
  }
}

function readyTime(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (what: string): void => {
      clearTimeout(timer);
      reject(new Error(`the server ${what}:\n${output}`));
    };
    const timer = setTimeout(() => fail(`was not ready within ${READY_DEADLINE_MS / 1000} s`), READY_DEADLINE_MS);
    const onOutput = (part: Buffer): void => {
      output = (output + part.toString()).slice(-KEPT_OUTPUT);
      const ready = READY_LINE.exec(output);
      if (ready === null) return;
      clearTimeout(timer);
      resolve(Number(ready[1]));
    };
    // Read to the end of the process, ready or not: a full pipe would stop the server.
    child.stdout!.on('data', onOutput);
    child.stderr!.on('data', onOutput);
    child.once('error', (error) => fail(`did not start: ${error.message}`));
    child.once('exit', (code, signal) => fail(`ended (${signal ?? code}) before it was ready`));
  });
}

/** A port of loopback that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
