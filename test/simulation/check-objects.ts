// Single objects are linearizable: for each key there is one order of all its reads and writes, in which each takes effect
// at a moment between its request and its answer, that a plain variable could have answered so. Patches are among the
// writes: each takes effect once, on the state it is applied to. Searched for by trying, after Wing and Gong; what has been
// tried is remembered. Pure.
import { type Get, type Operation, type Seen, versionOf, type Write } from './history.ts';

/** What the variable holds; undefined: no object. */
type State = Pick<Seen, 'tag' | 'before' | 'held' | 'dying'> | undefined;

type Access = Write | Get;

/** Searching longer than this says nothing about the history, and is reported. */
const STEPS_MAX = 2_000_000;

/**
 * What is wrong, one line a key; empty when every key that counts is linearizable. A key must not count when others than
 * the clients change its objects. Reads that may be old are left out.
 */
export function checkObjects(operations: readonly Operation[], counts: (key: string) => boolean): readonly string[] {
  const byKey = new Map<string, Access[]>();
  for (const operation of operations) {
    if (operation.kind === 'list' || !isTelling(operation)) continue;
    const { key } = operation;
    if (!counts(key)) continue;
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [operation]);
    else known.push(operation);
  }
  const problems: string[] = [];
  for (const [key, accesses] of byKey) {
    const problem = linearizationProblem(accesses);
    if (problem !== undefined) problems.push(`${key}: ${problem}`);
  }
  return problems;
}

/** Operations that say something about the object, or may have changed it. */
function isTelling(access: Access): boolean {
  if (access.kind === 'get') return access.freshness === 'mostRecent' && access.outcome !== 'refused';
  const { outcome, dry } = access;
  if (outcome.is === 'unknown') return !dry;
  if (outcome.is === 'ok') return true;
  // These are answers about the object; others only promise that nothing was done.
  const isTest = outcome.code === 422 && access.kind === 'patch' && access.expects !== undefined;
  return outcome.code === 404 || outcome.code === 409 || isTest;
}

function linearizationProblem(accesses: readonly Access[]): string | undefined {
  const ordered = accesses.toSorted((a, b) => a.invoked - b.invoked);
  const search = new Search(ordered);
  if (search.isPossible(undefined, 0n)) return undefined;
  if (search.steps >= STEPS_MAX) return 'the search for an order was given up';
  return `no order of its operations explains the answers: ${ordered.map(describe).join('; ')}`;
}

class Search {
  readonly #accesses: readonly Access[];
  readonly #tried = new Set<string>();
  steps = 0;

  constructor(ordered: readonly Access[]) {
    this.#accesses = ordered;
  }

  /** Whether the operations not in `done` (a bit each) can follow a state. */
  isPossible(state: State, done: bigint): boolean {
    const memo = `${done.toString(36)} ${textOf(state)}`;
    if (this.#tried.has(memo) || ++this.steps >= STEPS_MAX) return false;
    this.#tried.add(memo);
    let firstReturn = Number.POSITIVE_INFINITY;
    let isComplete = true;
    this.#accesses.forEach((access, index) => {
      if (isIn(done, index) || isOptional(access)) return;
      isComplete = false;
      firstReturn = Math.min(firstReturn, access.returned);
    });
    if (isComplete) return true;
    return this.#accesses.some((access, index) => {
      if (isIn(done, index) || access.invoked > firstReturn) return false;
      const next = after(access, state);
      return next !== 'impossible' && this.isPossible(next, done | (1n << BigInt(index)));
    });
  }
}

function isIn(done: bigint, index: number): boolean {
  return (done & (1n << BigInt(index))) !== 0n;
}

/** It need never have taken effect. */
function isOptional(access: Access): boolean {
  return access.kind !== 'get' && access.outcome.is === 'unknown';
}

/** The state that an operation with its answer leads to. */
function after(access: Access, state: State): State | 'impossible' {
  if (access.kind === 'get') return isShown(access.outcome, state) ? state : 'impossible';
  const { outcome } = access;
  if (outcome.is === 'refused') return isRefusalTrue(access, outcome.code, state) ? state : 'impossible';
  const next = made(access, state);
  if (next === 'impossible' || access.dry) return next === 'impossible' ? next : state;
  // What was removed by the write is answered as it was last.
  const shown = outcome.is === 'ok' ? outcome.object : undefined;
  return shown === undefined || next === undefined || isShown(shown, next) ? next : 'impossible';
}

/** What a write that is carried out makes of a state. */
function made(write: Write, state: State): State | 'impossible' {
  const { kind, tag, held = false } = write;
  if (kind === 'create') return state === undefined ? { tag, before: '', held, dying: false } : 'impossible';
  if (state === undefined) return kind === 'collect' ? undefined : 'impossible';
  if (kind === 'delete' || kind === 'collect') return state.held ? { ...state, dying: true } : undefined;
  if (isStale(write, state)) return 'impossible';
  const next = {
    tag: tag === '' ? state.tag : tag,
    before: write.before === 'cleared' ? '' : write.before === 'kept' ? state.before : state.tag,
    held: write.held ?? state.held,
    dying: state.dying,
  };
  return next.dying && !next.held ? undefined : next;
}

function isShown(outcome: Get['outcome'], state: State): boolean {
  if (outcome === 'absent' || outcome === 'refused') return state === undefined;
  return state !== undefined && textOf(outcome) === textOf(state);
}

function textOf(state: State): string {
  return state === undefined ? '' : `${versionOf(state)} < ${state.before}${state.held ? ' held' : ''}`;
}

function isStale({ expects }: Write, state: NonNullable<State>): boolean {
  return expects !== undefined && expects !== versionOf(state);
}

/** 404: there was no object. 409 and 422: there was one on creation; else it was another version. */
function isRefusalTrue(write: Write, code: number, state: State): boolean {
  if (code === 404) return state === undefined;
  if (write.kind === 'create') return state !== undefined;
  return state === undefined || write.expects === undefined || isStale(write, state);
}

function describe(access: Access): string {
  const when = `${access.invoked}-${access.returned}`;
  if (access.kind === 'get') {
    const { outcome } = access;
    return `get ${typeof outcome === 'string' ? outcome : textOf(outcome)} @${when}`;
  }
  const { kind, tag, before, expects, held, dry, outcome } = access;
  const shown = outcome.is === 'ok' && outcome.object !== undefined ? ` (${textOf(outcome.object)})` : '';
  const what = outcome.is === 'ok' ? `ok${shown}` : `${outcome.is} ${outcome.code}`;
  const how = [before, held ? 'held' : held === false ? 'free' : '', dry ? 'dry' : ''].filter((word) => word !== '');
  return `${kind} ${tag} ${how.join(' ')}${expects === undefined ? '' : ` on ${expects}`} ${what} @${when}`;
}
