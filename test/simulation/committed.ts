// Every revision that became durable, as the disk saw it: what the answers of a run are compared with. Reads the engine's
// batches, so that nothing above the engine is trusted.

import type { EngineBatch } from '../../storage/engines/local-engine.ts';
import { readStoredValue } from '../../storage/forms/stored-value.ts';
import { EarlierForms, readEventRecord } from '../../storage/records/event-log.ts';
import { stampRevision } from '../../storage/records/slab-record.ts';
import { type Facts, factsOf, type Scope, type Seen, seenIn } from './history.ts';

/** An object as it was stored. */
export type Version = Seen & Facts;

/** What one revision did to one key. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  readonly before: Version | undefined;
  readonly after: Version | undefined;
  /** When it became durable, on the history's counter. */
  readonly durable: number;
}

/** What a store that others write to as well was told of one key. */
export interface SharedChange {
  readonly revision: number;
  readonly key: string;
  /** As it is stored; undefined: it is gone. */
  readonly value: Uint8Array | undefined;
}

/** One change as a watch of some scope is to show it. */
export interface ExpectedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  readonly revision: number;
  /** The object as it is to be shown; for DELETED its last state, which comes under the removal's revision. */
  readonly version: Version;
}

/** The stored form behind what lies on the disk. */
export type OpenStored = (key: string, bytes: Uint8Array) => Uint8Array;

export class Committed {
  readonly changes: Change[] = [];
  /** Of each key, in order. */
  readonly byKey = new Map<string, Change[]>();
  readonly problems: string[] = [];
  readonly #byRevision = new Map<number, Change[]>();
  /** When what ends at a revision became durable, where revisions have gaps. */
  readonly #ends = new Map<number, number>();
  readonly #present = new Map<string, Version>();
  readonly #open: OpenStored;
  #lastRevision = 0;

  constructor(open: OpenStored = (_key, bytes) => bytes) {
    this.#open = open;
  }

  get lastRevision(): number {
    return this.#lastRevision;
  }

  /** Every object that is there now, by key. */
  get present(): ReadonlyMap<string, Version> {
    return this.#present;
  }

  /** A batch has become durable at a moment. */
  add(batch: EngineBatch, durable: number): void {
    const record = readEventRecord(batch.events);
    if (record === undefined) {
      this.problems.push(`the event record of revision ${batch.firstRevision} cannot be read`);
      return;
    }
    if (batch.firstRevision !== this.#lastRevision + 1) {
      this.problems.push(`revision ${batch.firstRevision} follows ${this.#lastRevision}`);
    }
    const values = new Map<string, Version>();
    const written = new Map<string, Buffer>();
    for (const { key, value } of batch.writes) {
      const version = value === undefined ? undefined : versionIn(key, this.#open(key, value));
      if (version !== undefined) values.set(`${version.revision} ${key}`, version);
      if (value === undefined) written.delete(key);
      else written.set(key, Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    }
    const forms = new EarlierForms(written);
    // What was removed in the batch that wrote it is no value of the engine's: the event of its removal has it.
    for (const event of [...record.events].reverse()) {
      const { key, revision } = event;
      const replaced = forms.replacedBy(event);
      if (replaced === undefined) this.problems.push(`what ${key} was before revision ${revision} cannot be told`);
      const version = replaced?.length ? versionIn(key, this.#open(key, replaced)) : undefined;
      if (version !== undefined) values.set(`${version.revision} ${key}`, version);
    }
    for (const { revision, key } of record.events) this.note(revision, key, values.get(`${revision} ${key}`), durable);
    this.#lastRevision = batch.lastRevision;
  }

  /** Changes have become durable that end at a revision, with gaps between the revisions. */
  addShared(end: number, changes: readonly SharedChange[], durable: number): void {
    for (const { revision, key, value } of changes) {
      const version = value === undefined ? undefined : versionIn(key, this.#open(key, value), revision);
      if (value !== undefined && version === undefined) this.problems.push(`${key} at ${revision} cannot be read`);
      this.note(revision, key, version, durable);
    }
    this.#ends.set(end, durable);
    this.#lastRevision = end;
  }

  /** One change. */
  note(revision: number, key: string, after: Version | undefined, durable: number): void {
    const change: Change = { revision, key, before: this.#present.get(key), after, durable };
    if (after === undefined) this.#present.delete(key);
    else this.#present.set(key, after);
    this.changes.push(change);
    listIn(this.byKey, key).push(change);
    listIn(this.#byRevision, revision).push(change);
    this.#lastRevision = revision;
  }

  at(revision: number, key: string): Change | undefined {
    return this.#byRevision.get(revision)?.find((change) => change.key === key);
  }

  /** When a revision became durable; Infinity if it never did. */
  durableAt(revision: number): number {
    return this.#byRevision.get(revision)?.[0]?.durable ?? this.#gapDurableAt(revision);
  }

  #gapDurableAt(revision: number): number {
    for (const [end, durable] of this.#ends) if (end >= revision) return durable;
    return Number.POSITIVE_INFINITY;
  }

  /** The objects of a scope at a revision, in order of key. */
  stateAt(revision: number, scope: Scope): readonly Version[] {
    const state: Version[] = [];
    for (const [key, changes] of this.byKey) {
      if (!isInside(key, scope)) continue;
      const last = changes.findLast((change) => change.revision <= revision)?.after;
      if (last !== undefined && selects(scope, last)) state.push(last);
    }
    return state.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** What a watch of a scope must show after a revision. */
  eventsAfter(revision: number, scope: Scope): readonly ExpectedEvent[] {
    const events: ExpectedEvent[] = [];
    for (const change of this.changes) {
      if (change.revision <= revision || !isInside(change.key, scope)) continue;
      const { before, after, key } = change;
      const was = before !== undefined && selects(scope, before);
      const is = after !== undefined && selects(scope, after);
      const at = { key, revision: change.revision };
      if (is) events.push({ ...at, type: was ? 'MODIFIED' : 'ADDED', version: after });
      else if (was) events.push({ ...at, type: 'DELETED', version: before });
    }
    return events;
  }
}

/** The namespace's and type's part of a scope. */
export function isInside(key: string, { storageKey, namespace }: Scope): boolean {
  return key.startsWith(namespace === '' ? `${storageKey}/` : `${storageKey}/${namespace}/`);
}

function selects({ frontOnly, name, node }: Scope, version: Version): boolean {
  if (frontOnly && !version.isFront) return false;
  return (name === '' || version.key.endsWith(`/${name}`)) && (node === '' || version.node === node);
}

/** `revision`: of a value that does not say its own. */
function versionIn(key: string, value: Uint8Array, revision?: number): Version | undefined {
  const stored = readStoredValue(key, value);
  if (stored === undefined) return undefined;
  const json = Buffer.from(stored.json);
  if (revision !== undefined) stampRevision(json, stored.revisionOffset, revision);
  const object: unknown = JSON.parse(json.toString('utf8'));
  const storageKey = key.split('/', 2).join('/');
  return { ...seenIn(storageKey, object), key, revision: revision ?? stored.revision, ...factsOf(object) };
}

function listIn<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key);
  if (list === undefined) {
    list = [];
    lists.set(key, list);
  }
  return list;
}
