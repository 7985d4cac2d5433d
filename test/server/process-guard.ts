// A test runner that is killed runs no hook: what it started is ended by whoever waits for the end of its pipe.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

const SCRIPT = 'read -r _; kill -9 "$1"; shift; rm -rf "$@"';

/** Ends the process and removes the folders when this process is gone before it. */
export function guardProcess(child: ChildProcess, folders: readonly string[]): void {
  if (child.pid === undefined) return;
  const guard = spawn('sh', ['-c', SCRIPT, 'guard', String(child.pid), ...folders], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Its number may be another process's soon.
  child.once('exit', () => guard.kill('SIGKILL'));
  guard.unref();
  (guard.stdin as Socket).unref();
}
