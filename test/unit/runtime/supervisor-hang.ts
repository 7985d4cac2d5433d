// Run as a process of its own, in a folder that it is given: a supervisor with a thread that spins for ever, which only the process's end
// can stop.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSupervisor } from '../../../runtime/threads/supervisor.ts';
import type { TestOptions } from './supervisor-roster.ts';

const options: TestOptions = { journal: join(process.argv[2]!, 'journal'), mischief: 'hang' };

const planned = (name: string, actor: string) => ({
  name,
  group: name,
  actors: [{ actor, name: actor, index: 0, settings: {} }],
});
const supervisor = await startSupervisor({
  plan: { name: 'hang', threads: [planned('front', 'driver'), planned('back', 'worker')], warnings: [] },
  rosterUrl: new URL('./supervisor-roster.js', import.meta.url).href,
  options,
  log: { level: 'fatal', format: 'text' },
  heartbeatMs: 50,
  // So long that a busy machine gives the other thread its turn meanwhile.
  hangTimeoutMs: 2_000,
});
await supervisor.ready;
writeFileSync(`${options.journal}.go`, '');
