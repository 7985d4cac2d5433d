// What each part of the server took of an operation's CPU, from a profile: every sample counts for the innermost function of the
// server's own that it was in, with the native code, the libraries and Node's own that this called. Pure.
import type { ThreadStacks } from './thread-stacks.ts';

/** Where code lies, and what is done there. The first that fits. */
const PARTS: readonly (readonly [prefix: string, part: string])[] = [
  ['transport/', 'connections: TLS, HTTP, sockets'],
  ['actors/auth/', 'who asks, and whether they may'],
  ['api/authorization/', 'who asks, and whether they may'],
  ['actors/ingress/fairness/', 'priority and fairness'],
  ['api/flow-control/', 'priority and fairness'],
  ['actors/ingress/pipeline/', 'the pipeline of a request: path, limits, metrics, log'],
  ['actors/ingress/', 'reads and answers'],
  ['api/request-info', 'the pipeline of a request: path, limits, metrics, log'],
  ['rendering/', 'reads and answers'],
  ['actors/audit/', 'the pipeline of a request: path, limits, metrics, log'],
  ['actors/hub/', 'hub: the present, and watches'],
  ['actors/admission/plugins/', 'admission plug-ins'],
  ['api/codec/', 'decoding, defaults, encoding'],
  ['api/schema/', 'decoding, defaults, encoding'],
  ['api/validation/', 'validation'],
  ['api/apply/', 'who owns which field'],
  ['actors/admission/', 'the write path'],
  ['actors/store/', 'store'],
  ['storage/', 'store'],
  ['actors/controllers/', 'controllers'],
  ['actors/scheduler/', 'scheduler'],
  ['actors/', 'actors: what they share'],
  ['api/', 'types: metadata, patches, strategies'],
  ['values/', 'types: metadata, patches, strategies'],
  ['runtime/', 'messages between actors and threads'],
];
const NO_CODE: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'native code that nothing called'],
]);
const OTHERS = 'Node itself';
/** What sockets bring in is read and decrypted before JavaScript hears of it; LevelDB, Node's pool and V8 have threads of their own. */
const OUTSIDE = { thread: 'all', part: 'outside JavaScript: kernel, reads, native threads' };
/** Of a sample that the profiler took of itself. */
const PROFILER = 'node:inspector';

export interface PartCost {
  readonly thread: string;
  readonly part: string;
  /** CPU of one operation. */
  readonly microseconds: number;
}

/** What was done while the profile was taken. */
export interface ProfiledLoad {
  readonly operationsPerSecond: number;
  readonly profiledSeconds: number;
  /** Of the whole process, for one operation; undefined where it is not known. */
  readonly microseconds: number | undefined;
}

/** By thread, the dearest part first; and last what no JavaScript took. */
export function partCosts(profile: readonly ThreadStacks[], load: ProfiledLoad): readonly PartCost[] {
  const operations = load.operationsPerSecond * load.profiledSeconds;
  const costs: PartCost[] = [];
  for (const { thread, stacks } of profile) {
    const times = new Map<string, number>();
    for (const { stack, time } of stacks) {
      if (stack.some((frame) => frame.includes(PROFILER))) continue;
      const part = partOf(stack);
      times.set(part, (times.get(part) ?? 0) + time);
    }
    const parts = [...times].sort(([, left], [, right]) => right - left);
    for (const [part, time] of parts) costs.push({ thread, part, microseconds: time / 1000 / operations });
  }
  if (load.microseconds === undefined) return costs;
  const known = costs.reduce((sum, { microseconds }) => sum + microseconds, 0);
  return [...costs, { ...OUTSIDE, microseconds: Math.max(0, load.microseconds - known) }];
}

/** The leaf first. Frames are `function file:line`. */
function partOf(stack: readonly string[]): string {
  for (const frame of stack) {
    const place = frame.slice(frame.lastIndexOf(' ') + 1);
    const found = PARTS.find(([prefix]) => place.startsWith(prefix));
    if (found !== undefined) return found[1];
    const bare = NO_CODE.get(frame.slice(0, frame.lastIndexOf(' ')));
    if (bare !== undefined) return bare;
  }
  return OTHERS;
}

/** As lines of a table; parts below a hundredth of the whole are added up. */
export function partLines(costs: readonly PartCost[]): string {
  const whole = costs.reduce((sum, { microseconds }) => sum + microseconds, 0);
  const shown = costs.filter(({ microseconds }) => microseconds >= whole / 100);
  const rest = costs.filter(({ microseconds }) => microseconds < whole / 100);
  const small = rest.reduce((sum, { microseconds }) => sum + microseconds, 0);
  const rows = [...shown, { thread: 'all', part: 'smaller parts', microseconds: small }];
  const line = (thread: string, part: string, microseconds: number): string =>
    `  ${thread.padEnd(9)} ${part.padEnd(55)} ${microseconds.toFixed(1).padStart(7)} µs ${((100 * microseconds) / whole).toFixed(0).padStart(3)} %`;
  return [
    ...rows.map(({ thread, part, microseconds }) => line(thread, part, microseconds)),
    line('', 'together', whole),
  ].join('\n');
}
