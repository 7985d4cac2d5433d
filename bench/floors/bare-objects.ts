// The objects of the bare server: kept in a Map as the text they are answered with, and in a bare engine, one synced batch after another,
// each of what came while the one before it was written. An object is parsed and written as text, gets what no client can
// give it, and that is all: nobody is asked who they are, nothing is checked, defaulted or owned, nothing is watched or logged.
import { randomUUID } from 'node:crypto';
import { applyMergePatch } from '../../api/patch/merge-patch.ts';
import type { BareEngine } from './bare-engine.ts';

interface BareObject {
  readonly metadata: Record<string, string>;
  readonly [member: string]: unknown;
}

/** Called when a write is on the disk; without an object where there is none. */
export type Written = (object: Buffer | undefined) => void;

interface Waiting {
  readonly key: string;
  /** Undefined: it is removed. */
  readonly value: Buffer | undefined;
  readonly answer: Buffer;
  readonly written: Written;
}

export class BareObjects {
  readonly #engine: BareEngine;
  readonly #onLost: (error: unknown) => void;
  readonly #objects = new Map<string, Buffer>();
  readonly #batches = { count: 0, writes: 0 };
  #waiting: Waiting[] = [];
  #isWriting = false;
  #revision = 0;

  /** `onLost`: the engine takes nothing more. */
  constructor(engine: BareEngine, onLost: (error: unknown) => void) {
    this.#engine = engine;
    this.#onLost = onLost;
  }

  /** How many batches there were, and how many writes were in all of them. */
  get batches(): { readonly count: number; readonly writes: number } {
    return this.#batches;
  }

  get(key: string): Buffer | undefined {
    return this.#objects.get(key);
  }

  /** Throws SyntaxError, as `put` and `patch` do. */
  create(collection: string, body: Buffer, written: Written): void {
    const object = JSON.parse(body.toString()) as BareObject;
    object.metadata.uid = randomUUID();
    object.metadata.creationTimestamp = new Date().toISOString();
    this.#store(`${collection}/${object.metadata.name}`, object, written);
  }

  put(key: string, body: Buffer, written: Written): void {
    const before = this.#parsed(key);
    if (before === undefined) {
      written(undefined);
      return;
    }
    const object = JSON.parse(body.toString()) as BareObject;
    object.metadata.uid = before.metadata.uid!;
    object.metadata.creationTimestamp = before.metadata.creationTimestamp!;
    this.#store(key, object, written);
  }

  /** By a JSON merge patch (RFC 7396), whatever it says it is. */
  patch(key: string, body: Buffer, written: Written): void {
    const before = this.#parsed(key);
    if (before === undefined) written(undefined);
    else this.#store(key, applyMergePatch(before, JSON.parse(body.toString())) as BareObject, written);
  }

  remove(key: string, written: Written): void {
    const object = this.#objects.get(key);
    if (object === undefined) {
      written(undefined);
      return;
    }
    this.#objects.delete(key);
    this.#write({ key, value: undefined, answer: object, written });
  }

  #parsed(key: string): BareObject | undefined {
    const text = this.#objects.get(key);
    return text === undefined ? undefined : (JSON.parse(text.toString()) as BareObject);
  }

  #store(key: string, object: BareObject, written: Written): void {
    object.metadata.resourceVersion = String(++this.#revision);
    const value = Buffer.from(JSON.stringify(object));
    this.#objects.set(key, value);
    this.#write({ key, value, answer: value, written });
  }

  #write(one: Waiting): void {
    if (this.#waiting.length === 0 && !this.#isWriting) setImmediate(() => this.#writeNext());
    this.#waiting.push(one);
  }

  #writeNext(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#isWriting = true;
    const operations = batch.map(({ key, value }) =>
      value === undefined ? { type: 'del' as const, key } : { type: 'put' as const, key, value },
    );
    this.#engine.batch(operations, { sync: true }).then(() => this.#committed(batch), this.#onLost);
  }

  #committed(batch: readonly Waiting[]): void {
    this.#isWriting = false;
    this.#batches.count++;
    this.#batches.writes += batch.length;
    for (const { answer, written } of batch) written(answer);
    if (this.#waiting.length > 0) this.#writeNext();
  }
}
