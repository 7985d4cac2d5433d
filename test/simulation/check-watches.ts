// A watch from a revision delivers exactly the changes after it: in order, each once, none missing up to its last event or
// bookmark, those of one revision together, and bookmarks that promise no more than has been delivered. Pure.
import { type Committed, type ExpectedEvent, isInside, type Version } from './committed.ts';
import { type Look, type Seen, versionOf, type Watch, type WatchEvent } from './history.ts';

/** What is wrong, one line a watch. */
export function checkWatches(watches: readonly Watch[], committed: Committed): readonly string[] {
  const problems: string[] = [];
  for (const watch of watches) {
    const problem = watchProblem(watch, committed);
    const from = watch.after === undefined ? 'the present' : watch.after;
    if (problem !== undefined)
      problems.push(`watch of client ${watch.client} from ${from} @${watch.opened}: ${problem}`);
  }
  return problems;
}

function watchProblem(watch: Watch, committed: Committed): string | undefined {
  if (watch.writesWhileFull > 0) return `${watch.writesWhileFull} chunks were written to a full socket`;
  if (watch.after !== undefined) return problemAfter(watch, watch.after, watch.events, committed);
  return presentProblem(watch, committed);
}

/** One that begins with the present: the first events are the state at some revision, the others follow that revision. */
function presentProblem(watch: Watch, committed: Committed): string | undefined {
  const { events } = watch;
  if (watch.end === 'refused' || watch.end === 'absent') return undefined;
  let first: string | undefined;
  for (const revision of beginnings(watch, committed)) {
    const state = committed.stateAt(revision, watch);
    const isState = events.slice(0, state.length).every(({ type, object }, index) => {
      const version = state[index]!;
      return type === 'ADDED' && object.key === version.key && isShown(object, version, watch.look);
    });
    if (!isState) continue;
    if (events.length < state.length && watch.end !== 'open') return undefined;
    if (events.length < state.length) first ??= 'it shows only a part of the state it began with';
    else {
      const problem = problemAfter(watch, revision, events.slice(state.length), committed);
      if (problem === undefined) return undefined;
      first ??= problem;
    }
  }
  return first ?? `it began with no state that there was: [${events.map(described).join()}]`;
}

/** The revisions whose state it may have begun with, latest first: none that was over when it was opened. */
function beginnings(watch: Watch, committed: Committed): readonly number[] {
  const revisions = [0];
  for (const { revision, key } of committed.changes) {
    if (isInside(key, watch) && revision > revisions.at(-1)!) revisions.push(revision);
  }
  return revisions.filter((_, index) => (revisions[index + 1] ?? Number.POSITIVE_INFINITY) > watch.least).reverse();
}

function problemAfter(
  watch: Watch,
  after: number,
  events: readonly WatchEvent[],
  committed: Committed,
): string | undefined {
  const expected = committed.eventsAfter(after, watch);
  let next = 0;
  for (const [index, event] of events.entries()) {
    if (event.type === 'BOOKMARK') {
      const problem = bookmarkProblem(event, expected[next], index === 0 ? after : events[index - 1]!.object.revision);
      if (problem !== undefined) return problem;
      continue;
    }
    const due = expected[next++];
    if (due === undefined) return `${described(event)} came, and nothing more was due`;
    const problem = eventProblem(event, due, watch.look);
    if (problem !== undefined) return problem;
    const before = expected[next - 2];
    const previous = events[index - 1];
    if (before?.revision === due.revision && previous !== undefined && previous.chunk !== event.chunk) {
      return `the changes of revision ${due.revision} came apart`;
    }
  }
  const following = expected[next];
  if (following === undefined) return undefined;
  if (watch.end === 'open') return `${due(following)} never came`;
  const last = events.at(-1);
  if (last !== undefined && last.type !== 'BOOKMARK' && following.revision === last.object.revision) {
    return `it ended in the middle of revision ${following.revision}`;
  }
  return undefined;
}

function bookmarkProblem(
  { object }: WatchEvent,
  following: ExpectedEvent | undefined,
  before: number,
): string | undefined {
  const { revision } = object;
  if (revision < before) return `a bookmark went back from ${before} to ${revision}`;
  if (following !== undefined && following.revision <= revision) {
    return `a bookmark promised ${revision} before ${due(following)}`;
  }
  return undefined;
}

function eventProblem(event: WatchEvent, expected: ExpectedEvent, look: Look): string | undefined {
  const { type, object } = event;
  const { version } = expected;
  const isIt = type === expected.type && object.key === expected.key && object.revision === expected.revision;
  if (!isIt) return `${described(event)} came where ${due(expected)} was due`;
  // The last state of what was removed comes under another revision: its text is not that of any version.
  if (isShown(object, version, type === 'DELETED' ? 'partial' : look)) return undefined;
  return `${described(event)} showed ${object.text || versionOf(object)}, not ${version.text}`;
}

function isShown(object: Seen, version: Version, look: Look): boolean {
  if (look === 'whole') return object.text === version.text;
  return versionOf(object) === versionOf(version) && object.before === version.before && object.held === version.held;
}

function described({ type, object }: WatchEvent): string {
  return `${type} ${object.key}@${object.revision}`;
}

function due({ type, key, revision }: ExpectedEvent): string {
  return `${type} ${key}@${revision}`;
}
