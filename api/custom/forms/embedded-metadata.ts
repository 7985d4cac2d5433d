// The metadata of whole objects inside a custom object: brought into the form that all metadata has, in place.
import { decode } from '../../codec/decode.ts';
import { DecodeError, mismatch } from '../../codec/decode-error.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import type { TypeSchema } from '../../schema/schema.ts';
import type { Pruned } from './pruning.ts';
import type { Members, Structure } from './structure.ts';

/**
 * What becomes of metadata that is none, and of a kind or apiVersion that is no text. A client is told of it by a DecodeError.
 * What the schema itself has given is left to the checks. Of what was stored before the schema asked for a whole object, the
 * members go that nobody can read: their owners have to be able to change it.
 */
export type Unreadable = 'told' | 'kept' | 'dropped';

/** Notes what it takes out. */
export type Coercer = (value: unknown, pruned: Pruned, unreadable: Unreadable) => void;

/**
 * Compiles what is to be done with values of a structure; undefined where it has no whole objects in it, as most have.
 *
 * @param metadata `meta/v1.ObjectMeta`.
 */
export function coercerOf(structure: Structure, metadata: TypeSchema): Coercer | undefined {
  const below = (one: Structure | undefined): Coercer | undefined => one && coercerOf(one, metadata);
  const items = below(structure.items);
  const rest = below(structure.rest);
  const { isEmbedded } = structure;
  const members = new Map([...structure.properties].map(([name, property]) => [name, below(property)]));
  const looksInside = rest !== undefined || [...members.values()].some((coerce) => coerce !== undefined);
  if (!isEmbedded && !looksInside && items === undefined) return undefined;
  const coerceMembers = (object: Members, pruned: Pruned, unreadable: Unreadable): void => {
    for (const name in object) {
      const coerce = members.has(name) ? members.get(name) : rest;
      if (coerce === undefined) continue;
      pruned.enter(name);
      coerce(object[name], pruned, unreadable);
      pruned.leave();
    }
  };
  return (value, pruned, unreadable) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) coerceItems(value, items, pruned, unreadable);
      return;
    }
    if (isEmbedded) coerceWhole(value as Members, metadata, pruned, unreadable);
    if (looksInside) coerceMembers(value as Members, pruned, unreadable);
  };
}

function coerceItems(list: readonly unknown[], items: Coercer, pruned: Pruned, unreadable: Unreadable): void {
  for (let index = 0; index < list.length; index++) {
    pruned.enter(index);
    items(list[index], pruned, unreadable);
    pruned.leave();
  }
}

function coerceWhole(object: Members, type: TypeSchema, pruned: Pruned, unreadable: Unreadable): void {
  for (const name of ['apiVersion', 'kind']) {
    const text = Object.hasOwn(object, name) ? object[name] : '';
    if (typeof text === 'string') continue;
    if (unreadable === 'told') throw pruned.blamed(mismatch(text, 'string').within(name));
    if (unreadable === 'dropped') delete object[name];
  }
  if (!Object.hasOwn(object, 'metadata')) return;
  const decoded = metadataOf(object.metadata, type, pruned, unreadable);
  if (decoded === undefined) {
    if (unreadable === 'dropped') delete object.metadata;
    return;
  }
  const { object: coerced, unknownFields } = decoded;
  // Nothing is created there.
  if (coerced.creationTimestamp === null) delete (coerced as Members).creationTimestamp;
  if (coerced !== object.metadata) object.metadata = coerced;
  for (const path of unknownFields) pruned.note(`metadata.${path}`);
}

type Decoded = ReturnType<typeof decode>;

/** Undefined for metadata that is none. */
function metadataOf(metadata: unknown, type: TypeSchema, pruned: Pruned, unreadable: Unreadable): Decoded | undefined {
  try {
    return decode(metadata ?? {}, type);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (unreadable === 'told') throw pruned.blamed(error.within('metadata'));
    return unreadable === 'dropped' && isJsonObject(metadata) ? decode(readableOf(metadata, type), type) : undefined;
  }
}

/** The members that can be read, each as a whole. */
function readableOf(metadata: JsonObject, type: TypeSchema): JsonObject {
  const isReadable = ([name, value]: [string, unknown]): boolean => {
    try {
      decode(Object.fromEntries([[name, value]]), type);
      return true;
    } catch (error) {
      if (error instanceof DecodeError) return false;
      throw error;
    }
  };
  return Object.fromEntries(Object.entries(metadata).filter(isReadable));
}
