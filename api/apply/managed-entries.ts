// The managers of an object's fields, as metadata.managedFields lists them (SPEC.md "managedFields entry"): reading what a
// client wrote, the limit on their number, and the order in which they stand.
import { compareTexts } from '../../values/compare-texts.ts';
import { isJsonObject } from '../json/json-value.ts';
import type { ManagedFieldsEntry } from '../metadata/object-meta.ts';
import { canonicalStep, isOfOtherKind } from './field-path.ts';
import {
  difference,
  FIELD_LEVELS_MAX,
  type FieldSet,
  inOrder,
  isEmpty,
  joinedNodes,
  LEAF,
  NO_FIELDS,
  node,
  SELF,
  unionOf,
} from './field-set.ts';

export type Operation = 'Apply' | 'Update';

/** Someone who manages fields. */
export interface Manager {
  readonly name: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  /** Empty when unknown. */
  readonly time: string;
  readonly fields: FieldSet;
  /** What is stored for exactly this manager, so that it need not be made again. */
  readonly entry?: ManagedFieldsEntry;
}

export const FIELDS_TYPE = 'FieldsV1';
/** Managers of operation Update that an object may have; the oldest beyond them become one. */
const UPDATERS_MAX = 10;
const ANCIENT_CHANGES = 'ancient-changes';

/** True for two entries that must be one: an applier is the same in every version. */
export function isSameManager(left: Manager, right: Manager): boolean {
  return (
    left.name === right.name &&
    left.operation === right.operation &&
    (left.operation === 'Apply' || left.apiVersion === right.apiVersion)
  );
}

/** The managers of a stored object, whose entries this server has written. */
export function storedManagers(entries: readonly ManagedFieldsEntry[] | undefined): Manager[] {
  return (entries ?? []).map((entry) => {
    const { manager = '', operation, apiVersion = '', time = '', fieldsV1 } = entry;
    return {
      name: manager,
      operation: operation === 'Apply' ? 'Apply' : 'Update',
      apiVersion,
      time,
      fields: isJsonObject(fieldsV1) ? (fieldsV1 as FieldSet) : NO_FIELDS,
      entry,
    };
  });
}

/** The managers that entries of a client name, each by its last; undefined when an entry is none. */
export function givenManagers(entries: readonly ManagedFieldsEntry[]): Manager[] | undefined {
  const managers: Manager[] = [];
  for (const { manager = '', operation, apiVersion = '', time = '', fieldsType, fieldsV1 } of entries) {
    if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '') return undefined;
    if (fieldsType !== FIELDS_TYPE) return undefined;
    const fields = fieldsV1 === undefined || fieldsV1 === null ? NO_FIELDS : readFields(fieldsV1);
    if (fields === undefined) return undefined;
    managers.push({ name: manager, operation, apiVersion, time, fields });
  }
  return lastOfEach(managers);
}

/** An entry takes the place of one before it that is of the same manager. */
function lastOfEach(managers: readonly Manager[]): Manager[] {
  return [...new Map(managers.map((manager) => [identityOf(manager), manager])).values()];
}

/** The same for managers whose entries must be one (`isSameManager`). */
function identityOf({ name, operation, apiVersion }: Manager): string {
  return JSON.stringify(operation === 'Apply' ? [name] : [name, apiVersion]);
}

/** Why managedFields cannot be read, in the words that clients see; undefined where they can. */
export function problemOfEntries(entries: readonly ManagedFieldsEntry[]): string | undefined {
  for (const [index, { operation, apiVersion = '', fieldsType = '', fieldsV1 }] of entries.entries()) {
    if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
    if (apiVersion === '') return 'apiVersion must not be empty';
    if (fieldsType === '') return `missing fieldsType in managed fields entry ${index}`;
    if (fieldsType !== FIELDS_TYPE)
      return `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`;
    if (fieldsV1 !== undefined && fieldsV1 !== null && readFields(fieldsV1) === undefined)
      return `error decoding versioned set in managed fields entry ${index}`;
  }
  return undefined;
}

/** A field set in its one spelling; undefined when it is none, or deeper than sets can be. */
export function readFields(value: unknown): FieldSet | undefined {
  if (!isJsonObject(value)) return undefined;
  const root = readNode(value, FIELD_LEVELS_MAX);
  if (root === undefined) return undefined;
  return node(false, root) ?? NO_FIELDS;
}

function readNode(value: unknown, levelsLeft: number): FieldSet | undefined {
  if (value === null) return LEAF;
  if (!isJsonObject(value) || levelsLeft < 0) return undefined;
  const read: Record<string, FieldSet> = {};
  let isIn = false;
  for (const step of Object.keys(value)) {
    isIn ||= step === SELF;
    // What a later release may have brought in is left out.
    if (step === SELF || isOfOtherKind(step)) continue;
    const canonical = canonicalStep(step);
    const below = canonical === undefined ? undefined : readNode(value[step], levelsLeft - 1);
    if (canonical === undefined || below === undefined) return undefined;
    read[canonical] = read[canonical] === undefined ? below : joinedNodes(read[canonical], below);
  }
  return node(isIn, inOrder(read)) ?? LEAF;
}

/** The one entry, of nothing, by which a client asks that an object's managers be forgotten. */
export function asksForReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return (
    entries.length === 1 &&
    Object.values(entries[0]!).every((value) => value === undefined || value === null || value === '')
  );
}

function withFields({ name, operation, apiVersion, time }: Manager, fields: FieldSet): Manager {
  return { name, operation, apiVersion, time, fields };
}

/** What managers keep when others have taken some fields over. Managers with nothing left are gone. */
export function withoutFields(managers: readonly Manager[], taken: FieldSet): Manager[] {
  return withoutFieldsOfEach(managers, () => taken);
}

/** The same where each manager loses fields of its own. Those that `taken` is undefined for are gone as well. */
export function withoutFieldsOfEach(
  managers: readonly Manager[],
  taken: (manager: Manager) => FieldSet | undefined,
): Manager[] {
  const kept: Manager[] = [];
  for (const manager of managers) {
    const lost = taken(manager);
    if (lost === undefined) continue;
    const fields = difference(manager.fields, lost);
    if (isEmpty(fields)) continue;
    kept.push(fields === manager.fields ? manager : withFields(manager, fields));
  }
  return kept;
}

/** The oldest managers of operation Update, beyond the limit, merged into one for each version. */
export function withinLimit(managers: readonly Manager[]): readonly Manager[] {
  const updaters = managers.filter(({ operation }) => operation === 'Update');
  let surplus = updaters.length - UPDATERS_MAX;
  if (surplus <= 0) return managers;
  updaters.sort((left, right) => compareTexts(left.time, right.time) || compareTexts(left.name, right.name));
  const buckets = new Map<string, Manager[]>();
  const gone = new Set<Manager>();
  for (const updater of updaters) {
    if (surplus <= 0) break;
    const bucket = buckets.get(updater.apiVersion);
    if (bucket === undefined) buckets.set(updater.apiVersion, [updater]);
    else {
      bucket.push(updater);
      surplus -= 1;
    }
    gone.add(updater);
  }
  return mergedEqual([...managers.filter((manager) => !gone.has(manager)), ...[...buckets.values()].map(ancient)]);
}

/** One in place of several; its time is that of the latest. */
function ancient(bucket: readonly Manager[]): Manager {
  const latest = bucket.at(-1)!;
  if (bucket.length === 1) return latest;
  return { ...withFields(latest, unionOf(bucket.map(({ fields }) => fields))), name: ANCIENT_CHANGES };
}

/** One for all that are the same, with the fields of all and the latest time. */
function mergedEqual(managers: readonly Manager[]): Manager[] {
  const groups = new Map<string, Manager[]>();
  for (const manager of managers) {
    const identity = identityOf(manager);
    const group = groups.get(identity);
    if (group === undefined) groups.set(identity, [manager]);
    else group.push(manager);
  }
  return [...groups.values()].map((group) => {
    const last = group.at(-1)!;
    if (group.length === 1) return last;
    const times = group.map(({ time }) => time).sort(compareTexts);
    return { ...withFields(last, unionOf(group.map(({ fields }) => fields))), time: times.at(-1)! };
  });
}

/** The entries of an object: appliers first, then by time, name and version. Undefined for no managers. */
export function entriesOf(managers: readonly Manager[]): readonly ManagedFieldsEntry[] | undefined {
  if (managers.length === 0) return undefined;
  return [...managers].sort(byPlace).map((manager) => manager.entry ?? entryOf(manager));
}

function entryOf({ name, operation, apiVersion, time, fields }: Manager): ManagedFieldsEntry {
  const entry = { manager: name, operation, apiVersion, time, fieldsType: FIELDS_TYPE, fieldsV1: fields };
  if (name !== '' && apiVersion !== '' && time !== '') return entry;
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== ''));
}

function byPlace(left: Manager, right: Manager): number {
  return (
    compareTexts(left.operation, right.operation) ||
    compareTexts(left.time, right.time) ||
    compareTexts(left.name, right.name) ||
    compareTexts(left.apiVersion, right.apiVersion)
  );
}
