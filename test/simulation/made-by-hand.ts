// Histories made by hand, for the tests of the checkers: versions, commits, reads and writes with as little said as matters.
import { Committed, type Version } from './committed.ts';
import type { Get, List, Seen, Write } from './history.ts';

export const TYPE = 'core/configmaps';
export const A = `${TYPE}/a/o`;
export const B = `${TYPE}/b/o`;
export const WHO = { client: 1, front: 'ingress/0#1' };

export function version(key: string, revision: number, tag: string, more: Partial<Version> = {}): Version {
  const seen = { key, revision, tag, before: '', held: false, dying: false, text: `${key} ${tag}` };
  const facts = { isFront: false, uid: `${key}'s`, node: '', owners: [], finalizers: [], created: 'then' };
  return { ...seen, ...facts, generation: 0, holder: '', ...more };
}

/** A key, and its tag, or what else matters of it; undefined: it is removed. */
export type Made = readonly [key: string, what: string | Partial<Version> | undefined];

/** Durable at moment 10 × revision. */
export function committedOf(
  ...changes: readonly (readonly [key: string, tag: string | Partial<Version> | undefined])[]
) {
  const committed = new Committed();
  changes.forEach(([key, what], index) => {
    const revision = index + 1;
    const tag = typeof what === 'string' ? what : (what?.tag ?? 't');
    const after = what === undefined ? undefined : version(key, revision, tag, typeof what === 'string' ? {} : what);
    committed.note(revision, key, after, revision * 10);
  });
  return committed;
}

export function seen(key: string, revision: number, tag: string, more: Partial<Seen> = {}): Seen {
  const { before, held, dying, text } = version(key, revision, tag);
  return { key, revision, tag, before, held, dying, text, ...more };
}

export function write(
  kind: Write['kind'],
  at: readonly [number, number],
  tag: string,
  more: Partial<Write> = {},
): Write {
  const [invoked, returned] = at;
  const effect = {
    tag,
    before: kind === 'patch' ? 'kept' : 'cleared',
    held: kind === 'patch' ? undefined : false,
  } as const;
  const what = {
    ...WHO,
    kind,
    key: A,
    ...effect,
    expects: undefined,
    dry: false,
    policy: undefined,
    invoked,
    returned,
  };
  return { ...what, outcome: { is: 'ok', object: undefined }, ...more };
}

export function get(at: readonly [number, number], outcome: Get['outcome'], more: Partial<Get> = {}): Get {
  const [invoked, returned] = at;
  return { ...WHO, kind: 'get', key: A, freshness: 'mostRecent', asked: 0, invoked, returned, outcome, ...more };
}

export function list(
  at: readonly [number, number],
  revision: number,
  items: readonly Seen[],
  more: Partial<List> = {},
): List {
  const [invoked, returned] = at;
  const scope = { storageKey: TYPE, namespace: '', frontOnly: false, name: '', node: '' };
  return {
    ...WHO,
    ...scope,
    kind: 'list',
    freshness: 'mostRecent',
    asked: 0,
    invoked,
    returned,
    outcome: { revision, items },
    ...more,
  };
}
