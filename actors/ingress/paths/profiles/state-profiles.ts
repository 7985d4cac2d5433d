// Profiles that are counts of what is at one moment: threads, actors with what they wait for, waits in mailboxes. Each actor
// is what a goroutine is elsewhere.
import { ProfileTables, type ThreadProfile } from '../../../../runtime/profiles/thread-profile.ts';
import type { ThreadState } from '../../../../runtime/profiles/thread-state.ts';

const NANOS_PER_MS = 1_000_000;

/** One sample a path of names, the outermost first: no functions and lines, for they are no code. */
function counted(thread: string, rows: readonly (readonly [path: readonly string[], count: number, amount: number])[]) {
  const tables = new ProfileTables();
  for (const [path, count, amount] of rows) {
    let call = -1;
    for (const name of path) call = tables.call(call, name, '', 0, 0);
    tables.sample(call, count, amount);
  }
  return tables.of(thread);
}

/** Every actor once, and every answer that the thread waits for. */
export function actorsOf({ thread, actors, awaited }: ThreadState): ThreadProfile {
  return counted(thread, [
    ...actors.map(
      ({ actor, waiting, unanswered }) => [[thread, actor, standingOf(waiting, unanswered)], 1, 0] as const,
    ),
    ...awaited.map(([actor, asks]) => [[thread, 'answers awaited', `from ${actor}`], asks, 0] as const),
  ]);
}

function standingOf(waiting: number, unanswered: number): string {
  if (waiting > 0) return 'messages wait to be handled';
  return unanswered > 0 ? 'asks wait for its answer' : 'waits for messages';
}

/** The thread, once. */
export function threadOf({ thread }: ThreadState): ThreadProfile {
  return counted(thread, [[[thread], 1, 0]]);
}

/** How long messages waited in mailboxes, in nanoseconds. */
export function waitsOf({ thread, actors }: ThreadState): ThreadProfile {
  const waited = actors.filter(({ waits }) => waits > 0);
  return counted(
    thread,
    waited.map(({ actor, waits, waitMs }) => [[thread, actor], waits, Math.round(waitMs * NANOS_PER_MS)]),
  );
}

/** The same for readers: a line an actor. */
export function stateText(states: readonly ThreadState[]): string {
  const lines = states.flatMap(({ thread, actors, awaited }) => [
    `thread ${thread}:`,
    ...actors.map((state) => {
      const { actor, waiting, unanswered, handled, turnMsMax, waits, waitMs } = state;
      const counts = `waiting=${waiting} unanswered=${unanswered} handled=${handled} longest-turn=${turnMsMax.toFixed(1)}ms`;
      const waited = waits === 0 ? '' : ` waits=${waits} waited=${waitMs.toFixed(1)}ms`;
      return `  ${actor} [${standingOf(waiting, unanswered)}]: ${counts}${waited}`;
    }),
    ...awaited.map(([actor, asks]) => `  awaits ${asks} answers from ${actor}`),
  ]);
  return `${lines.join('\n')}\n`;
}
