// A process that does nothing any more, and has not ended: as one that hangs.
import { readdirSync, readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { eventually } from '../integration/objects.ts';

/** Stops a process until the test ends. Resolves once all of its threads stand still: until then it may still answer. */
export async function stopProcess(t: Pick<ExecutionContext, 'teardown'>, pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  t.teardown(() => void process.kill(pid, 'SIGCONT'));
  await eventually(
    async () => statesOf(pid),
    (states) => states.every((state) => state === 'T'),
  );
}

/** As /proc has them: a letter a thread, behind the name in brackets. Empty: of one that has ended since it was listed. */
function statesOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const text = statusText(`/proc/${pid}/task/${thread}/stat`);
    return text.slice(text.lastIndexOf(')') + 2).slice(0, 1);
  });
}

function statusText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
