// The JSON of parts of one object, kept for who encodes the same parts again. Parts are told by which they are, not by what they
// say: nothing may change in place what is kept here. Pure.
import type { JsonObject } from '../json/json-value.ts';

export class EncodedTexts {
  readonly #texts = new Map<unknown, string>();

  /** The JSON of a value; that of an object or a list is kept. */
  of(value: unknown): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    let text = this.#texts.get(value);
    if (text === undefined) {
      text = JSON.stringify(value);
      this.#texts.set(value, text);
    }
    return text;
  }

  /** A value whose JSON is known. */
  keep(value: unknown, text: string): void {
    this.#texts.set(value, text);
  }

  /**
   * The JSON of an object of the API: of its metadata every member is kept, and of the object every other member.
   *
   * @param managedFieldsText JSON to stand for metadata.managedFields, which the object then has not; empty for none.
   */
  ofObject(object: JsonObject, managedFieldsText = ''): string {
    let text = '';
    for (const member of Object.keys(object)) {
      const value = object[member];
      if (value === undefined) continue;
      const isMetadata = member === 'metadata' && typeof value === 'object' && value !== null;
      text += `${text === '' ? '' : ','}${JSON.stringify(member)}:${isMetadata ? this.#members(value, managedFieldsText) : this.of(value)}`;
    }
    return `{${text}}`;
  }

  #members(object: object, managedFieldsText: string): string {
    let text = managedFieldsText === '' ? '' : `"managedFields":${managedFieldsText}`;
    for (const [member, value] of Object.entries(object)) {
      if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(member)}:${this.of(value)}`;
    }
    return `{${text}}`;
  }
}
