// The Python that has the Kubernetes client, for the scripts beside this file.
import { execFile, execFileSync } from 'node:child_process';

const CANDIDATES = ['python3', '/usr/bin/python3'];

/** The first Python that can import the client. Throws, saying what to do, when none can. */
export function requirePython(): string {
  for (const candidate of CANDIDATES) {
    try {
      execFileSync(candidate, ['-c', 'import kubernetes'], { stdio: 'ignore' });
      return candidate;
    } catch {
      // The next may.
    }
  }
  throw new Error('these tests need a python3 with the kubernetes client (Debian: apt-get install python3-kubernetes)');
}

/** What a script prints. Rejects, with what it complained of, when it fails or takes too long. */
export function runPython(script: string, args: readonly string[], patienceMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: patienceMs, maxBuffer: 64 * 1024 * 1024 };
    execFile(requirePython(), [`test/clients/${script}`, ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${script}: ${error.message}\n${stderr}`));
    });
  });
}
