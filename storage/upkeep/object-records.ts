// The objects of a store beside its event records: which stored forms are whole and current, and for each that is not, what
// is lost and which older version there still is.

import { isSealedValue } from '../encryption/sealed-value.ts';
import { isPlainForm, readStoredValue, storedRevision, storedValueChecksum } from '../forms/stored-value.ts';
import { EarlierForms, type EventRecord, type LoggedEvent } from '../records/event-log.ts';
import { CREATED, DELETED } from '../records/slab-record.ts';

/** What is wrong with one object. */
export interface ObjectFinding {
  readonly key: string;
  /** One line. */
  readonly what: string;
  /** False: the object is as it must be without this, and only its history is wrong. */
  readonly isLost: boolean;
  /** The revision whose value is lost, where it is known. */
  readonly lostRevision: number | undefined;
  /** The older version that is whole, if there is one. */
  readonly keptRevision: number | undefined;
}

export interface Objects {
  /** Stored forms by key: the current ones, or the newest older ones where those are lost. */
  readonly whole: ReadonlyMap<string, Buffer>;
  readonly revisions: ReadonlyMap<string, number>;
  readonly highestRevision: number;
  readonly findings: readonly ObjectFinding[];
}

/** An event with the stored form that it replaced, empty for a creation; undefined where that cannot be told. */
interface UndoneEvent extends LoggedEvent {
  readonly replaced: Buffer | undefined;
  /** It cannot be told because the value after it is encrypted, with which nothing is wrong. */
  readonly isHidden: boolean;
}

/** A stored form that matches its checksum. */
interface Version {
  readonly revision: number;
  readonly bytes: Buffer;
}

function versionOf(key: string, bytes: Uint8Array | undefined): Version | undefined {
  if (bytes === undefined || bytes.byteLength === 0) return undefined;
  const revision = storedRevision(key, bytes);
  return revision === undefined
    ? undefined
    : { revision, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** Compares values with what the event records say was written. */
export function readObjects(values: ReadonlyMap<string, Buffer>, records: readonly EventRecord[]): Objects {
  const objects = new ObjectReader(values);
  const events = undone(values, records);
  const byKey = new Map<string, UndoneEvent[]>();
  for (const event of events) {
    const known = byKey.get(event.key);
    if (known === undefined) byKey.set(event.key, [event]);
    else known.push(event);
  }
  for (const key of new Set([...values.keys(), ...byKey.keys()])) objects.add(key, byKey.get(key) ?? []);
  objects.checkHistory(events);
  return objects;
}

/** The events in order, walked through from the newest to the oldest. */
function undone(values: ReadonlyMap<string, Buffer>, records: readonly EventRecord[]): UndoneEvent[] {
  const after = new Map(values);
  const forms = new EarlierForms(after);
  const hidden = new Set<string>();
  return records
    .flatMap((record) => record.events)
    .reverse()
    .map((event) => {
      const { key, isDelta } = event;
      const written = after.get(key);
      const replaced = forms.replacedBy(event);
      if (isDelta && written !== undefined && isSealedValue(written)) hidden.add(key);
      return { ...event, replaced, isHidden: replaced === undefined && hidden.has(key) };
    })
    .reverse();
}

class ObjectReader implements Objects {
  readonly whole = new Map<string, Buffer>();
  readonly revisions = new Map<string, number>();
  readonly findings: ObjectFinding[] = [];
  highestRevision = 0;
  readonly #values: ReadonlyMap<string, Buffer>;

  constructor(values: ReadonlyMap<string, Buffer>) {
    this.#values = values;
  }

  /** `events`: the key's, in order, as far as the event log has any. */
  add(key: string, events: readonly UndoneEvent[]): void {
    const last = events.at(-1);
    const bytes = this.#values.get(key);
    const version = versionOf(key, bytes);
    if (version !== undefined) this.highestRevision = Math.max(this.highestRevision, version.revision);
    const problem = problemOf(key, bytes, version, last);
    if (problem === undefined) {
      if (version !== undefined) this.#keep(key, version);
      return;
    }
    const isRemoved = last?.type === DELETED;
    const older = isRemoved ? undefined : olderVersion(key, version, events);
    if (older !== undefined) this.#keep(key, older);
    const lostRevision = isRemoved ? undefined : (last?.revision ?? version?.revision);
    this.findings.push({ key, what: problem, isLost: !isRemoved, lostRevision, keptRevision: older?.revision });
  }

  /** Walks back from the present, as a start does: each event must lead to what comes after it. */
  checkHistory(events: readonly UndoneEvent[]): void {
    const after = new Map<string, number | undefined>(this.revisions);
    const wrong = new Set(this.findings.map(({ key }) => key));
    for (let i = events.length - 1; i >= 0; i--) {
      const { key, revision, type, replaced, isHidden } = events[i]!;
      if (isHidden) wrong.add(key);
      if (wrong.has(key)) continue;
      const before = versionOf(key, replaced);
      const isUnreadable = replaced?.length !== 0 && before === undefined;
      const leads = type === DELETED ? !after.get(key) && before !== undefined : after.get(key) === revision;
      if (isUnreadable || !leads) {
        const what = isUnreadable
          ? `the value ${key} had before revision ${revision} does not match its checksum`
          : `the value of ${key} at revision ${revision} is missing`;
        this.findings.push({ key, what, isLost: false, lostRevision: undefined, keptRevision: undefined });
        wrong.add(key);
      }
      after.set(key, before?.revision);
    }
  }

  #keep(key: string, { revision, bytes }: Version): void {
    this.whole.set(key, bytes);
    this.revisions.set(key, revision);
  }
}

/** Why a value is not what it must be; undefined when it is, and when there is none and none must be. */
function problemOf(
  key: string,
  bytes: Buffer | undefined,
  version: Version | undefined,
  last: LoggedEvent | undefined,
): string | undefined {
  if (bytes !== undefined && version === undefined) return `the value of ${key} does not match its checksum`;
  const revision = version?.revision ?? 0;
  if (last !== undefined && last.revision > revision) {
    if (last.type !== DELETED) return `the value of ${key} at revision ${last.revision} is missing`;
    return version && `${key} was removed at revision ${last.revision} and is there`;
  }
  if (version === undefined) return undefined;
  if (last?.revision === revision && last.valueChecksum !== storedValueChecksum(version.bytes)) {
    return `the value of ${key} is not the one written at revision ${revision}`;
  }
  return contentProblem(key, version);
}

/** The newest whole version of a key whose current one is lost: what lies there, or what an event replaced. */
function olderVersion(key: string, stored: Version | undefined, events: readonly UndoneEvent[]): Version | undefined {
  const found = [stored];
  let from = 0;
  for (const event of events) {
    // What was there before the object was created anew is not a version of it.
    if (event.type === CREATED) from = event.revision;
    found.push(versionOf(key, event.replaced));
  }
  return found
    .filter((version) => version !== undefined)
    .filter((version) => version.revision >= from && contentProblem(key, version) === undefined)
    .sort((a, b) => b.revision - a.revision)[0];
}

/** Whether an object can be read: its JSON, and in it the revision it was stored under. What is encrypted is not looked into. */
function contentProblem(key: string, { revision, bytes }: Version): string | undefined {
  if (!isPlainForm(bytes)) return undefined;
  const value = readStoredValue(key, bytes);
  if (value === undefined) return `the value of ${key} has no envelope`;
  const slot = `"${revision}"`;
  if (value.json.toString('latin1', value.revisionOffset, value.revisionOffset + slot.length) !== slot) {
    return `the value of ${key} does not say revision ${revision}`;
  }
  try {
    JSON.parse(value.json.toString('utf8'));
    return undefined;
  } catch {
    return `the value of ${key} is not JSON`;
  }
}
