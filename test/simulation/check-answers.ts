// What single answers promise, against every revision that became durable: an acknowledged write is there and was durable
// first, and a dry run nowhere; a list is the state at its revision and a read some state it may show; reads are as fresh
// as they were asked to be, and those of one client never go back, whichever ingress it asks. Pure.
import type { Change, Committed } from './committed.ts';
import type { Get, History, List, Operation, Seen, Write } from './history.ts';
import { serverOf } from './server-names.ts';

/** What is wrong, one line each. */
export function checkAnswers({ operations }: History, committed: Committed): readonly string[] {
  const problems: string[] = [];
  const known = new Known(operations);
  const seenBy = readsBy(operations, ({ client }) => String(client));
  // A client that does not ask for the newest may be shown an older state by another server.
  const seenThrough = readsBy(operations, ({ client, front }) => `${client} ${serverOf(front)}`);
  for (const operation of operations) {
    const { kind, client, invoked } = operation;
    const seen =
      kind === 'get' || kind === 'list'
        ? (operation.freshness === 'mostRecent'
            ? seenBy.get(String(client))
            : seenThrough.get(`${client} ${serverOf(operation.front)}`))!.before(invoked)
        : 0;
    const problem =
      kind === 'get'
        ? getProblem(operation, committed, known, seen)
        : kind === 'list'
          ? listProblem(operation, committed, known, seen)
          : writeProblem(operation, committed);
    if (problem !== undefined) problems.push(`client ${client}, ${kind} @${invoked}: ${problem}`);
  }
  problems.push(...dryRunProblems(operations, committed));
  return problems;
}

/** What the reads of each have told it; reads of the past aside. */
function readsBy(
  operations: readonly Operation[],
  whose: (operation: Operation) => string,
): ReadonlyMap<string, Known> {
  const isRead = ({ kind }: Operation): boolean => kind === 'get' || kind === 'list';
  const isPresent = (operation: Operation): boolean =>
    isRead(operation) && (operation as Get | List).freshness !== 'exact';
  const reads = new Map<string, Operation[]>();
  for (const operation of operations) {
    const own = reads.get(whose(operation)) ?? [];
    if (isPresent(operation)) own.push(operation);
    reads.set(whose(operation), own);
  }
  return new Map([...reads].map(([reader, own]) => [reader, new Known(own)]));
}

/** The revision an answer says it is of; 0 when it says none. */
function revisionOf(operation: Operation): number {
  if (operation.kind === 'list') return typeof operation.outcome === 'string' ? 0 : operation.outcome.revision;
  if (operation.kind === 'get') return typeof operation.outcome === 'string' ? 0 : operation.outcome.revision;
  return operation.outcome.is === 'ok' ? (operation.outcome.object?.revision ?? 0) : 0;
}

/** The highest revision that some operations had told of by some moment. */
class Known {
  readonly #returned: readonly number[];
  readonly #highest: readonly number[];

  constructor(operations: readonly Operation[]) {
    const telling = operations.filter((operation) => revisionOf(operation) > 0).sort((a, b) => a.returned - b.returned);
    let highest = 0;
    this.#returned = telling.map(({ returned }) => returned);
    this.#highest = telling.map((operation) => {
      highest = Math.max(highest, revisionOf(operation));
      return highest;
    });
  }

  before(moment: number): number {
    const index = this.#returned.findLastIndex((returned) => returned < moment);
    return index < 0 ? 0 : this.#highest[index]!;
  }
}

function writeProblem(write: Write, committed: Committed): string | undefined {
  const { kind, key, outcome, tag, dry, invoked, returned } = write;
  if (outcome.is !== 'ok' || dry) return undefined;
  const changes = committed.byKey.get(key) ?? [];
  if (kind === 'delete' || kind === 'collect') {
    return changes.some((change) => change.durable < returned && isDeletion(change))
      ? undefined
      : `${key} was deleted by no durable revision`;
  }
  const { object } = outcome;
  const isInTime = ({ durable }: Change): boolean => durable > invoked && durable < returned;
  // The last finalizer was taken away: what is answered is what was removed.
  if (changes.some((change) => isInTime(change) && change.after === undefined)) return undefined;
  // A patch that says no tag may change nothing, and then writes nothing.
  if (tag !== '' && !changes.some((change) => isInTime(change) && change.after?.tag === tag)) {
    return `the acknowledged ${tag} is in no durable revision of ${key}`;
  }
  return object === undefined ? undefined : seenProblem(object, committed, returned);
}

/** No version may hold what only a dry run said. */
function dryRunProblems(operations: readonly Operation[], { changes }: Committed): readonly string[] {
  const tags = new Set<string>();
  for (const operation of operations) if ('dry' in operation && operation.dry) tags.add(operation.tag);
  tags.delete('');
  return changes
    .filter(({ after }) => after !== undefined && tags.has(after.tag))
    .map(({ key, revision, after }) => `the dry run ${after!.tag} was stored as ${key} at ${revision}`);
}

function isDeletion({ before, after }: Change): boolean {
  return before !== undefined && (after === undefined || after.dying);
}

/** An object that was shown must be what its revision made of it, and durable by then. */
function seenProblem(seen: Seen, committed: Committed, returned: number): string | undefined {
  const change = committed.at(seen.revision, seen.key);
  if (change?.after === undefined) return `${seen.key} at ${seen.revision} was shown and is not there`;
  if (change.durable >= returned) return `${seen.key} at ${seen.revision} was shown before it was durable`;
  if (change.after.text === seen.text) return undefined;
  return `${seen.key} at ${seen.revision} was shown as ${seen.text}, it is ${change.after.text}`;
}

function getProblem(get: Get, committed: Committed, known: Known, seen: number): string | undefined {
  const { outcome, key, returned, freshness, asked } = get;
  if (outcome === 'refused') return undefined;
  if (outcome !== 'absent') {
    const problem = seenProblem(outcome, committed, returned);
    if (problem !== undefined) return problem;
  }
  const least = Math.max(freshness === 'mostRecent' ? known.before(get.invoked) : asked, seen);
  const changes = committed.byKey.get(key) ?? [];
  // The versions it may show: those current at some revision from the least one on, up to what was durable.
  const candidates = changes.filter(({ revision, durable }, index) => {
    const until = changes[index + 1]?.revision ?? Number.POSITIVE_INFINITY;
    return until > least && durable < returned && revision > 0;
  });
  if (outcome !== 'absent') {
    if (candidates.some(({ revision }) => revision === outcome.revision)) return undefined;
    return `${key} was shown at ${outcome.revision}, which was over by ${least}`;
  }
  const wasAbsentFirst = (changes[0]?.revision ?? Number.POSITIVE_INFINITY) > least;
  if (wasAbsentFirst || candidates.some(({ after }) => after === undefined)) return undefined;
  return `${key} was said to be absent, it was there from ${least} on`;
}

function listProblem(list: List, committed: Committed, known: Known, seen: number): string | undefined {
  const { outcome, freshness, asked, invoked, returned } = list;
  if (typeof outcome === 'string') return undefined;
  const { revision, items } = outcome;
  if (committed.durableAt(revision) >= returned && revision > 0) return `its revision ${revision} was not durable`;
  const least = freshness === 'mostRecent' ? known.before(invoked) : freshness === 'any' ? 0 : asked;
  if (revision < least) return `it is of ${revision}, ${least} was known`;
  if (freshness !== 'exact' && revision < seen) return `it went back from ${seen} to ${revision}`;
  if (freshness === 'exact' && revision !== asked) return `it is of ${revision}, exactly ${asked} was asked for`;
  const expected = committed.stateAt(revision, list);
  const shown = items.map(({ key, revision: at }) => `${key}@${at}`).join();
  const there = expected.map(({ key, revision: at }) => `${key}@${at}`).join();
  if (shown !== there) return `at ${revision} it shows [${shown}], there was [${there}]`;
  const wrong = items.findIndex(({ text }, index) => text !== expected[index]!.text);
  return wrong < 0 ? undefined : `at ${revision} it shows ${items[wrong]!.text}, there was ${expected[wrong]!.text}`;
}
