// The metadata of whole objects inside a custom object, as a client sent it: brought into the form that all metadata has, in place.
import { decode } from '../codec/decode.ts';
import { DecodeError, mismatch } from '../codec/decode-error.ts';
import type { TypeSchema } from '../schema/schema.ts';
import type { Pruned } from './pruning.ts';
import type { Members, Structure } from './structure.ts';

/** Notes what it takes out. Throws DecodeError for metadata that is none, and for a kind or apiVersion that is no text. */
export type Coercer = (value: unknown, pruned: Pruned) => void;

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
  const coerceMembers = (object: Members, pruned: Pruned): void => {
    for (const name in object) {
      const coerce = members.has(name) ? members.get(name) : rest;
      if (coerce === undefined) continue;
      pruned.enter(name);
      coerce(object[name], pruned);
      pruned.leave();
    }
  };
  return (value, pruned) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (items !== undefined) coerceItems(value, items, pruned);
      return;
    }
    if (isEmbedded) coerceWhole(value as Members, metadata, pruned);
    if (looksInside) coerceMembers(value as Members, pruned);
  };
}

function coerceItems(list: readonly unknown[], items: Coercer, pruned: Pruned): void {
  for (let index = 0; index < list.length; index++) {
    pruned.enter(index);
    items(list[index], pruned);
    pruned.leave();
  }
}

function coerceWhole(object: Members, type: TypeSchema, pruned: Pruned): void {
  for (const name of ['apiVersion', 'kind']) {
    const text = Object.hasOwn(object, name) ? object[name] : '';
    if (typeof text !== 'string') throw pruned.blamed(mismatch(text, 'string').within(name));
  }
  if (!Object.hasOwn(object, 'metadata')) return;
  const { object: coerced, unknownFields } = metadataOf(object.metadata, type, pruned);
  // Nothing is created there.
  if (coerced.creationTimestamp === null) delete (coerced as Members).creationTimestamp;
  if (coerced !== object.metadata) object.metadata = coerced;
  for (const path of unknownFields) pruned.note(`metadata.${path}`);
}

function metadataOf(metadata: unknown, type: TypeSchema, pruned: Pruned): ReturnType<typeof decode> {
  try {
    return decode(metadata ?? {}, type);
  } catch (error) {
    throw error instanceof DecodeError ? pruned.blamed(error.within('metadata')) : error;
  }
}
