// What crosses a link: one array a turn, frames laid end to end in it, and one buffer that holds every payload of the
// turn. Laying frames flat spares the clone an object a message; packing payloads spares it every copy but one.
import type { ErrorFrame } from '../errors.ts';
import { FieldReader, type FlatForm, type FlatFormTable } from '../flat-form.ts';

/** Frame codes, each with what follows it in the array. */
const ASK = 0; // ask id, actor id, request number, message
const TELL = 1; // actor id, request number, message
const REPLY = 2; // ask id, value
const ERROR = 3; // ask id, ErrorFrame
const CANCEL = 4; // ask id
const CREDIT = 5; // actor id, how many tells were handled
/** Added to ASK, TELL or REPLY: offset and length of the payload in the batch's buffer follow. */
const PAYLOAD = 8;
/** Added to ASK or TELL: in place of the message, the number of its form, how many fields, the fields. To REPLY: without the number. */
const FLAT = 16;

/** The shared buffer of payloads (0 when there are none), then the frames. */
export type Batch = [buffer: ArrayBuffer | 0, ...frames: unknown[]];

/** Payloads begin at multiples of this, so that any typed array can be laid over them. */
const ALIGNMENT_BYTES = 8;

/** Collects the frames of one turn. */
export class BatchBuilder {
  private batch: Batch = [0];
  private payloads: Uint8Array[] = [];
  private payloadBytes = 0;

  get empty(): boolean {
    return this.batch.length === 1;
  }

  /** `flat`: the forms of the actor. */
  ask(askId: number, actorId: number, requestNumber: number, message: object, flat?: FlatFormTable): void {
    const start = this.batch.push(ASK, askId, actorId, requestNumber) - 4;
    this.pushMessage(start, message, flat);
  }

  /** `flat`: the forms of the actor. */
  tell(actorId: number, requestNumber: number, message: object, flat?: FlatFormTable): void {
    const start = this.batch.push(TELL, actorId, requestNumber) - 3;
    this.pushMessage(start, message, flat);
  }

  /** `form`: that of the answer. */
  reply(askId: number, value: unknown, form?: FlatForm): void {
    const start = this.batch.push(REPLY, askId) - 2;
    if (form === undefined || !this.pushFields(start, value as object, form)) this.batch.push(compacted(value));
    this.pushPayload(start, value);
  }

  private pushMessage(start: number, message: object, flat: FlatFormTable | undefined): void {
    const known = flat?.ofMessage(message);
    if (known === undefined) this.batch.push(compacted(message));
    else {
      this.batch.push(known.number);
      if (!this.pushFields(start, message, known.form)) this.batch[this.batch.length - 1] = compacted(message);
    }
    this.pushPayload(start, message);
  }

  /** The fields behind their count, and the frame's code says so. False, with nothing pushed, where it has no room for this one. */
  private pushFields(start: number, message: object, form: FlatForm): boolean {
    const { batch } = this;
    const count = batch.push(0) - 1;
    if (!form.write(message, batch)) {
      batch.length = count;
      return false;
    }
    batch[count] = batch.length - count - 1;
    batch[start] = (batch[start] as number) | FLAT;
    return true;
  }

  private pushPayload(start: number, value: unknown): void {
    const payload = payloadOf(value);
    if (payload === undefined) return;
    const { batch } = this;
    batch[start] = (batch[start] as number) | PAYLOAD;
    batch.push(this.pack(payload), payload.length);
  }

  error(askId: number, frame: ErrorFrame): void {
    this.batch.push(ERROR, askId, frame);
  }

  cancel(askId: number): void {
    this.batch.push(CANCEL, askId);
  }

  credit(actorId: number, tells: number): void {
    this.batch.push(CREDIT, actorId, tells);
  }

  /** The finished batch; the builder begins a new one. The payloads' own memory is left as it was. */
  take(): Batch {
    const { batch, payloads } = this;
    if (payloads.length > 0) {
      const packed = new Uint8Array(new ArrayBuffer(this.payloadBytes));
      let offset = 0;
      for (const payload of payloads) {
        packed.set(payload, offset);
        offset += aligned(payload.length);
      }
      batch[0] = packed.buffer;
      this.payloads = [];
      this.payloadBytes = 0;
    }
    this.batch = [0];
    return batch;
  }

  private pack(payload: Uint8Array): number {
    const offset = this.payloadBytes;
    this.payloads.push(payload);
    this.payloadBytes += aligned(payload.length);
    return offset;
  }
}

/** Who is told what a batch says, frame by frame. */
export interface BatchReader {
  ask(askId: number, actorId: number, requestNumber: number, message: object): void;
  tell(actorId: number, requestNumber: number, message: object): void;
  reply(askId: number, value: unknown): void;
  error(askId: number, frame: ErrorFrame): void;
  cancel(askId: number): void;
  credit(actorId: number, tells: number): void;
  /** The forms of what an actor is sent. */
  formsOf(actorId: number): FlatFormTable | undefined;
  /** The form of the answer to an ask; undefined where nobody waits for it any more. */
  answerForm(askId: number): FlatForm | undefined;
  /** A frame whose message is laid out flat, from `at` up to `end`. False: it is to be read. */
  passesOn?(batch: Batch, at: number, end: number): boolean;
}

/** Reads a batch in order, putting every payload back into its message as a view of the batch's buffer. */
export function readBatch(batch: Batch, reader: BatchReader): void {
  const buffer = batch[0];
  for (let at = 1; at < batch.length; ) {
    const code = batch[at] as number;
    const plain = code & ~(PAYLOAD | FLAT);
    const last = at + FIELDS[plain]!;
    const messageEnd = (code & FLAT) === 0 ? last + 1 : flatEnd(plain, batch, last);
    const end = messageEnd + ((code & PAYLOAD) === 0 ? 0 : 2);
    if ((code & FLAT) === 0 || reader.passesOn?.(batch, at, end) !== true) {
      const message = (code & FLAT) === 0 ? batch[last] : restored(plain, batch, at, reader);
      if (end > messageEnd && buffer !== 0 && message !== undefined) {
        const [offset, length] = [batch[messageEnd] as number, batch[messageEnd + 1] as number];
        (message as { payload: Uint8Array }).payload = new Uint8Array(buffer, offset, length);
      }
      readFrame(plain, batch, at, message, reader);
    }
    at = end;
  }
}

/** How many elements follow each frame code, up to the message or what else comes last. */
const FIELDS: readonly number[] = [4, 3, 2, 2, 1, 2];

/** Where the fields end whose form's number, or count, is at `last`. */
function flatEnd(code: number, batch: Batch, last: number): number {
  const count = code === REPLY ? last : last + 1;
  return count + 1 + (batch[count] as number);
}

const fieldReader = new FieldReader();

/** What was laid out flat; undefined for an answer that nobody waits for. */
function restored(code: number, batch: Batch, at: number, reader: BatchReader): object | undefined {
  const first = batch[at + 1] as number;
  if (code === REPLY) return reader.answerForm(first)?.read(fieldReader.from(batch, at + 3));
  const actorId = code === ASK ? (batch[at + 2] as number) : first;
  const last = at + FIELDS[code]!;
  return reader
    .formsOf(actorId)!
    .numbered(batch[last] as number)
    .read(fieldReader.from(batch, last + 2));
}

function readFrame(code: number, batch: Batch, at: number, message: unknown, reader: BatchReader): void {
  const first = batch[at + 1] as number;
  switch (code) {
    case ASK:
      reader.ask(first, batch[at + 2] as number, batch[at + 3] as number, message as object);
      break;
    case TELL:
      reader.tell(first, batch[at + 2] as number, message as object);
      break;
    case REPLY:
      reader.reply(first, message);
      break;
    case ERROR:
      reader.error(first, batch[at + 2] as ErrorFrame);
      break;
    case CANCEL:
      reader.cancel(first);
      break;
    case CREDIT:
      reader.credit(first, batch[at + 2] as number);
      break;
  }
}

function aligned(bytes: number): number {
  return (bytes + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
}

function payloadOf(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { payload } = value as { readonly payload?: unknown };
  return payload instanceof Uint8Array ? payload : undefined;
}

/**
 * The message as it should be cloned: without its payload, and with every byte array that is a small window on a larger
 * buffer (a pooled Buffer, a subarray) cut out of it, since cloning a view clones all of the buffer behind it. Looks at
 * the message's own properties only, not deeper.
 */
function compacted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (ArrayBuffer.isView(value)) return cutOut(value);
  const message = value as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | undefined;
  for (const key in message) {
    const property = message[key];
    if (typeof property !== 'object' || !ArrayBuffer.isView(property)) continue;
    const replaced = key === 'payload' && property instanceof Uint8Array ? null : cutOut(property);
    if (replaced === property) continue;
    copy ??= { ...message };
    copy[key] = replaced;
  }
  return copy ?? message;
}

function cutOut(view: ArrayBufferView): ArrayBufferView {
  if (view.byteLength === view.buffer.byteLength || view.buffer instanceof SharedArrayBuffer) return view;
  if (view instanceof Uint8Array) return new Uint8Array(view);
  return view instanceof DataView ? view : (view as Uint32Array).slice();
}
