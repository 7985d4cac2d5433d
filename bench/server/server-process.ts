// The server under load, as shipped: `orch up` with TLS and every stage on, on a data directory of its own.
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Children } from '../children.ts';
import type { Endpoint } from '../load-protocol.ts';
import { freePort } from './free-port.ts';
import { readConnectionFile } from './kubeconfig.ts';

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
  /** Throws with the end of its output when the process has ended by itself. */
  checkAlive(): void;
  /** Resolves when the process has ended by SIGTERM. */
  stop(): Promise<void>;
}

/** Starts a server and waits until it is ready. Rejects with the end of its output when it does not get there. */
export async function startServer(children: Children, settings: ServerSettings): Promise<ServerProcess> {
  const port = await freePort();
  const program = fileURLToPath(new URL('../../bin/orch.cjs', import.meta.url));
  const startedMs = performance.now();
  const child = children.spawnNode([
    program,
    'up',
    `--data-dir=${settings.dataDir}`,
    `--secure-port=${port}`,
    `--placement=${settings.placement}`,
    ...settings.options.map((option) => `--${option}`),
  ]);
  const output = new OutputTail(child);
  try {
    const readyMs = await readyTime(child, output);
    return {
      pid: child.pid!,
      endpoint: readConnectionFile(join(settings.dataDir, 'admin.conf')),
      readyMs,
      startMs: performance.now() - startedMs,
      checkAlive: () => {
        if (child.exitCode !== null || child.signalCode !== null) throw endedError(child, output);
      },
      stop: () => children.stop(child),
    };
  } catch (error) {
    await children.stop(child);
    throw error;
  }
}

/** The last lines of a process, read to its end: a full pipe would stop the server. */
class OutputTail {
  text = '';

  constructor(child: ChildProcess) {
    const keep = (part: Buffer): void => {
      this.text = (this.text + part.toString()).slice(-KEPT_OUTPUT);
    };
    child.stdout!.on('data', keep);
    child.stderr!.on('data', keep);
  }
}

function readyTime(child: ChildProcess, output: OutputTail): Promise<number> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      child.stdout!.off('data', onOutput);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new Error(`the server was not ready within ${READY_DEADLINE_MS / 1000} s:\n${output.text}`)),
      READY_DEADLINE_MS,
    );
    const onOutput = (): void => {
      const ready = READY_LINE.exec(output.text);
      if (ready === null) return;
      settle();
      resolve(Number(ready[1]));
    };
    child.stdout!.on('data', onOutput);
    child.once('error', fail);
    child.once('exit', () => fail(endedError(child, output)));
  });
}

function endedError(child: ChildProcess, output: OutputTail): Error {
  const said = output.text.trim().replace(/\s*\n\s*/g, ' ');
  return new Error(`the server ended by itself (${child.signalCode ?? child.exitCode}): ${said}`);
}
