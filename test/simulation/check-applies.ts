// Server-side apply, change by change: each change of an object that managers share is what exactly one of them said, made
// of the state right before it, with the owners that follow from it. The model knows one map of members, and no schema.
// Pure.
import type { Change, Committed, Version } from './committed.ts';
import type { Assertion } from './history.ts';

interface State {
  readonly data: ReadonlyMap<string, string>;
  /** Of each member, as `m0/Apply`. */
  readonly owners: ReadonlyMap<string, ReadonlySet<string>>;
}

const NOTHING: State = { data: new Map(), owners: new Map() };

/** What is wrong, one line each. */
export function checkApplies(assertions: readonly Assertion[], committed: Committed): readonly string[] {
  const problems: string[] = [];
  const byMark = new Map(assertions.map((assertion) => [markOf(assertion), assertion]));
  const made = new Map<Assertion, Change>();
  const authorOf = new Map<Change, Assertion>();
  for (const key of new Set(assertions.map((assertion) => assertion.key))) {
    for (const change of committed.byKey.get(key) ?? []) {
      if (change.after === undefined) continue;
      const where = `${key} at ${change.revision}`;
      const before = stateOf(change.before);
      const after = stateOf(change.after);
      const authors = authorsOf(key, before, after, byMark);
      const [author] = authors;
      if (author === undefined || authors.length > 1) {
        problems.push(`${where} was changed by ${authors.length} of those who wrote to it`);
        continue;
      }
      if (made.has(author)) problems.push(`${where} was changed again by ${described(author)}`);
      made.set(author, change);
      authorOf.set(change, author);
      const problem = changeProblem(author, before, after);
      if (problem !== undefined) problems.push(`${where}, ${described(author)}: ${problem}`);
    }
  }
  for (const assertion of assertions) {
    const problem = answerProblem(assertion, made.get(assertion), committed.byKey.get(assertion.key) ?? [], authorOf);
    if (problem !== undefined) problems.push(`client ${assertion.client}, ${described(assertion)}: ${problem}`);
  }
  return problems;
}

/** The state that an assertion makes of another; `conflict` where it is to be refused. */
export function asserted({ kind, manager, fields, force }: Assertion, state: State): State | 'conflict' {
  const data = new Map(state.data);
  const owners = new Map([...state.owners].map(([member, names]) => [member, new Set(names)]));
  for (const [member, value] of Object.entries(fields)) {
    const names = owners.get(member) ?? new Set();
    const isChanged = data.get(member) !== value;
    const isOthers = [...names].some((name) => name !== manager);
    if (kind === 'apply' && isChanged && isOthers && !force) return 'conflict';
    data.set(member, value);
    if (isChanged) owners.set(member, new Set([manager]));
    else if (kind === 'apply') owners.set(member, names.add(manager));
  }
  if (kind === 'patch') return { data, owners };
  for (const [member, names] of owners) {
    if (member in fields || !names.delete(manager) || names.size > 0) continue;
    owners.delete(member);
    data.delete(member);
  }
  return { data, owners };
}

function changeProblem(author: Assertion, before: State, after: State): string | undefined {
  if (author.dry) return 'it was a dry run';
  if (author.outcome.is === 'refused') return `it was refused with ${author.outcome.code}`;
  const expected = asserted(author, before);
  if (expected === 'conflict') return `it conflicts with ${textOf(before)}`;
  if (textOf(expected) === textOf(after)) return undefined;
  return `it made ${textOf(after)} of ${textOf(before)}, not ${textOf(expected)}`;
}

function answerProblem(
  assertion: Assertion,
  change: Change | undefined,
  changes: readonly Change[],
  authorOf: ReadonlyMap<Change, Assertion>,
): string | undefined {
  const { outcome, dry, invoked, returned, kind } = assertion;
  if (outcome.is === 'ok' && !dry) {
    if (change === undefined) return 'it was acknowledged and is in no durable revision';
    return change.durable > invoked && change.durable < returned
      ? undefined
      : 'it was acknowledged before it was durable';
  }
  if (outcome.is !== 'refused' || outcome.code !== 409 || kind === 'patch') return undefined;
  // A state is over for certain once a later change has been acknowledged; until then it may still be what is read.
  let overAt = Number.POSITIVE_INFINITY;
  for (const each of changes.toReversed()) {
    const mayBeRead = each.durable < returned && overAt > invoked;
    if (mayBeRead && asserted(assertion, stateOf(each.after)) === 'conflict') return undefined;
    const author = authorOf.get(each);
    if (author?.outcome.is === 'ok') overAt = Math.min(overAt, author.returned);
  }
  return 'it was refused without a conflict';
}

/** Those whose mark is new. */
function authorsOf(key: string, before: State, after: State, byMark: ReadonlyMap<string, Assertion>): Assertion[] {
  const authors: Assertion[] = [];
  for (const [member, value] of after.data) {
    if (before.data.get(member) === value) continue;
    const author = byMark.get(`${key} ${member} ${value}`);
    if (author !== undefined) authors.push(author);
  }
  return authors;
}

interface ApplicableJson {
  readonly metadata: {
    readonly managedFields?: readonly {
      readonly manager: string;
      readonly operation: string;
      readonly fieldsV1: { readonly 'f:data'?: Readonly<Record<string, unknown>> };
    }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

function stateOf(version: Version | undefined): State {
  if (version === undefined) return NOTHING;
  const { data = {}, metadata } = JSON.parse(version.text) as ApplicableJson;
  const owners = new Map<string, Set<string>>();
  for (const { manager, operation, fieldsV1 } of metadata.managedFields ?? []) {
    for (const field of Object.keys(fieldsV1['f:data'] ?? {})) {
      if (!field.startsWith('f:')) continue;
      const names = owners.get(field.slice(2)) ?? new Set();
      owners.set(field.slice(2), names.add(`${manager}/${operation}`));
    }
  }
  return { data: new Map(Object.entries(data)), owners };
}

function textOf({ data, owners }: State): string {
  const members = new Set([...data.keys(), ...owners.keys()]);
  return [...members]
    .sort()
    .map((member) => `${member}=${data.get(member)} of ${[...(owners.get(member) ?? [])].sort().join('+')}`)
    .join(', ');
}

function markOf({ key, mark: [member, value] }: Assertion): string {
  return `${key} ${member} ${value}`;
}

function described({ kind, manager, fields, force, invoked }: Assertion): string {
  return `${kind} of ${JSON.stringify(fields)} by ${manager}${force ? ' by force' : ''} @${invoked}`;
}
