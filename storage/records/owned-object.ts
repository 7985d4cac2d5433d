// A record's object for who writes it again: all of it, its field sets from those that are known (api/codec/known-fields.ts).

import { knownFields } from '../../api/codec/known-fields.ts';
import { parseExact } from '../../api/json/exact-json.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Own } from '../../api/json/own-copy.ts';
import type { ManagedFieldsEntry } from '../../api/metadata/object-meta.ts';
import { managedFieldsRange, OPENING_BYTES } from './followed-text.ts';

const FIELDS = Buffer.from('"fieldsV1":');
/** Between two entries. No text of a field set reads so: in one, the second quote would have a backslash before it. */
const NEXT_ENTRY = Buffer.from('},{"manager":');
/** What closes the last entry and the list. */
const CLOSING_BYTES = '}]'.length;

/** An object, and the text of what comes after its metadata, from the brace on that closes those; undefined where it was parsed whole. */
export interface OwnedObject {
  readonly object: JsonObject;
  readonly rest: string | undefined;
}

/**
 * The object whose JSON is at `start`; `slot` is where its resourceVersion is, counted from there. Undefined where that has to be
 * parsed whole: it has no managedFields, or some that are written otherwise than this server does.
 */
export function ownedObject(bytes: Buffer, start: number, length: number, slot: number): OwnedObject | undefined {
  const range = managedFieldsRange(bytes, start, length, slot);
  if (range === undefined) return undefined;
  const { from, to } = range;
  try {
    const managedFields = entriesIn(bytes, from, to);
    if (managedFields === undefined) return undefined;
    const rest = bytes.toString('utf8', to, start + length);
    const object = parseExact(bytes.toString('utf8', start, from) + rest) as { metadata: Own<JsonObject> };
    object.metadata.managedFields = managedFields;
    return { object, rest };
  } catch {
    // Some text was taken for an end.
    return undefined;
  }
}

/**
 * The managedFields between two places of an object's JSON, as `managedFieldsRange` tells them; undefined where they are written otherwise
 * than this server does.
 */
export function entriesIn(bytes: Buffer, from: number, to: number): ManagedFieldsEntry[] | undefined {
  const entries: ManagedFieldsEntry[] = [];
  const list = bytes.subarray(0, to);
  for (let at = from + OPENING_BYTES; ; ) {
    const fields = list.indexOf(FIELDS, at);
    if (fields < 0) return undefined;
    const start = fields + FIELDS.length;
    const next = list.indexOf(NEXT_ENTRY, start);
    const end = next < 0 ? to - CLOSING_BYTES : next;
    const entry = JSON.parse(`${bytes.toString('utf8', at, start)}0}`) as Own<JsonObject>;
    entry.fieldsV1 = knownFields(bytes, start, end);
    entries.push(entry as ManagedFieldsEntry);
    if (next < 0) return entries;
    at = next + '},'.length;
  }
}
