// Takes from an object what its schema does not know, in place. What was taken is told by its path.
import { type DecodeError, indexPart } from '../../codec/decode-error.ts';
import type { Members, Structure } from './structure.ts';
import { TYPE_MEMBERS } from './structure.ts';

const TOLD_MAX = 100;

/** Where fields that were taken out are noted. */
export class Pruned {
  /** At most 100. */
  readonly paths: string[] = [];
  readonly #parts: (string | number)[] = [];

  enter(part: string | number): void {
    this.#parts.push(part);
  }

  leave(): void {
    this.#parts.pop();
  }

  /** The error of the value that it stands at, with the whole path. */
  blamed(error: DecodeError): DecodeError {
    for (const part of [...this.#parts].reverse()) error.within(typeof part === 'number' ? indexPart(part) : part);
    return error;
  }

  note(name: string): void {
    if (this.paths.length >= TOLD_MAX) return;
    let path = '';
    for (const part of [...this.#parts, name]) {
      path += typeof part === 'number' ? `[${part}]` : path === '' ? part : `.${part}`;
    }
    this.paths.push(path);
  }
}

/** Prunes a whole object; kind, apiVersion and metadata stay as they are. */
export function pruneObject(object: Members, structure: Structure, pruned: Pruned): void {
  pruneMembers(object, structure, { isWhole: true, keepsUnknown: structure.keepsUnknown }, pruned);
}

/** Prunes a value of any kind. */
export function pruneValue(value: unknown, structure: Structure): void {
  prune(value, structure, new Pruned());
}

/** `isOpen`: the value stands in a list that keeps what is unknown, and so does it. */
function prune(value: unknown, structure: Structure | undefined, pruned: Pruned, isOpen = false): void {
  if (typeof value !== 'object' || value === null) return;
  const keepsUnknown = isOpen || structure?.keepsUnknown === true;
  if (!Array.isArray(value)) {
    pruneMembers(value as Members, structure, { isWhole: structure?.isEmbedded === true, keepsUnknown }, pruned);
    return;
  }
  const items = structure?.items;
  if (keepsUnknown && items === undefined) return;
  for (let index = 0; index < value.length; index++) {
    const item: unknown = value[index];
    if (typeof item !== 'object' || item === null) continue;
    pruned.enter(index);
    prune(item, items, pruned, keepsUnknown);
    pruned.leave();
  }
}

interface Manner {
  readonly isWhole: boolean;
  readonly keepsUnknown: boolean;
}

function pruneMembers(
  object: Members,
  structure: Structure | undefined,
  { isWhole, keepsUnknown }: Manner,
  pruned: Pruned,
): void {
  for (const name in object) {
    if (isWhole && TYPE_MEMBERS.has(name)) continue;
    const property = structure?.properties.get(name);
    if (property === undefined && structure?.hasRest !== true) {
      if (keepsUnknown) continue;
      pruned.note(name);
      delete object[name];
      continue;
    }
    const value = object[name];
    if (typeof value !== 'object' || value === null) continue;
    const below = property ?? structure!.rest;
    pruned.enter(name);
    prune(value, below, pruned);
    pruned.leave();
  }
}
