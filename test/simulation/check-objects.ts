// Single objects are linearizable: for each key there is one order of all its reads and writes, in which each takes effect
// at a moment between its request and its answer, that a plain variable could have answered so. Searched for by trying,
// after Wing and Gong; what has been tried is remembered. Pure.
import { type Get, type Operation, versionOf, type Write } from './history.ts';

/** What the variable holds; undefined: no object. */
type State = { readonly tag: string; readonly held: boolean; readonly dying: boolean } | undefined;

type Access = Write | Get;

/** Searching longer than this says nothing about the history, and is reported. */
const STEPS_MAX = 2_000_000;

/** What is wrong, one line a key; empty when every key is linearizable. Reads that may be old are left out. */
export function checkObjects(operations: readonly Operation[], storageKeys: readonly string[]): readonly string[] {
  const byKey = new Map<string, Access[]>();
  for (const operation of operations) {
    if (operation.kind === 'list' || !isTelling(operation)) continue;
    const { key } = operation;
    if (!storageKeys.some((storageKey) => key.startsWith(`${storageKey}/`))) continue;
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
  if (access.outcome.is !== 'refused') return true;
  // 404 and 409 are answers about the object; others only promise that nothing was done.
  return access.outcome.code === 404 || access.outcome.code === 409;
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
    const memo = `${done.toString(36)} ${state === undefined ? '' : `${versionOf(state)} ${state.held}`}`;
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
  if (access.kind === 'get') return isShown(access, state) ? state : 'impossible';
  const { outcome } = access;
  if (outcome.is === 'refused') return isRefusalTrue(access, outcome.code, state) ? state : 'impossible';
  switch (access.kind) {
    case 'create':
      return state === undefined ? { tag: access.tag, held: access.held, dying: false } : 'impossible';
    case 'update':
      if (state === undefined || isStale(access, state)) return 'impossible';
      return state.dying && !access.held ? undefined : { ...state, tag: access.tag, held: access.held };
    case 'patch':
      return state === undefined ? 'impossible' : { ...state, tag: access.tag };
    case 'delete':
      if (state === undefined) return 'impossible';
      return state.held ? { ...state, dying: true } : undefined;
  }
}

function isShown({ outcome }: Get, state: State): boolean {
  if (outcome === 'absent' || outcome === 'refused') return state === undefined;
  return state !== undefined && versionOf(outcome) === versionOf(state) && outcome.held === state.held;
}

function isStale({ expects }: Write, state: NonNullable<State>): boolean {
  return expects !== undefined && expects !== versionOf(state);
}

/** 404: there was no object. 409: there was one on creation; on an update it was another version. */
function isRefusalTrue(write: Write, code: number, state: State): boolean {
  if (code === 404) return state === undefined;
  if (write.kind === 'create') return state !== undefined;
  return state === undefined || write.expects === undefined || isStale(write, state);
}

function describe(access: Access): string {
  const when = `${access.invoked}-${access.returned}`;
  if (access.kind === 'get') {
    const { outcome } = access;
    return `get ${typeof outcome === 'string' ? outcome : versionOf(outcome)} @${when}`;
  }
  const { kind, tag, expects, held, outcome } = access;
  const what = outcome.is === 'ok' ? 'ok' : `${outcome.is} ${outcome.code}`;
  return `${kind} ${tag}${held ? ' held' : ''}${expects === undefined ? '' : ` on ${expects}`} ${what} @${when}`;
}
