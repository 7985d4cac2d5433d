// What crosses a link: one array a turn, frames laid end to end in it, and one buffer that holds every payload of the
// turn. Laying frames flat spares the clone an object a message; packing payloads spares it every copy but one.
import type { ErrorFrame } from './errors.ts';

/** Frame codes, each with what follows it in the array. */
const ASK = 0; // ask id, actor id, request number, message
const TELL = 1; // actor id, request number, message
const REPLY = 2; // ask id, value
const ERROR = 3; // ask id, ErrorFrame
const CANCEL = 4; // ask id
const CREDIT = 5; // actor id, how many tells were handled
/** Added to ASK, TELL or REPLY: offset and length of the payload in the batch's buffer follow. */
const PAYLOAD = 8;

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

  ask(askId: number, actorId: number, requestNumber: number, message: object): void {
    const payload = payloadOf(message);
    const plain = compacted(message);
    if (payload === undefined) this.batch.push(ASK, askId, actorId, requestNumber, plain);
    else this.batch.push(ASK | PAYLOAD, askId, actorId, requestNumber, plain, this.pack(payload), payload.length);
  }

  tell(actorId: number, requestNumber: number, message: object): void {
    const payload = payloadOf(message);
    const plain = compacted(message);
    if (payload === undefined) this.batch.push(TELL, actorId, requestNumber, plain);
    else this.batch.push(TELL | PAYLOAD, actorId, requestNumber, plain, this.pack(payload), payload.length);
  }

  reply(askId: number, value: unknown): void {
    const payload = payloadOf(value);
    if (payload === undefined) this.batch.push(REPLY, askId, compacted(value));
    else this.batch.push(REPLY | PAYLOAD, askId, compacted(value), this.pack(payload), payload.length);
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
}

/** Reads a batch in order, putting every payload back into its message as a view of the batch's buffer. */
export function readBatch(batch: Batch, reader: BatchReader): void {
  const buffer = batch[0];
  for (let at = 1; at < batch.length; ) {
    const code = batch[at] as number;
    const hasPayload = (code & PAYLOAD) !== 0;
    const plain = code & ~PAYLOAD;
    const fields = FIELDS[plain]!;
    const last = at + fields;
    if (hasPayload && buffer !== 0) {
      const message = batch[last] as { payload: Uint8Array };
      message.payload = new Uint8Array(buffer, batch[last + 1] as number, batch[last + 2] as number);
    }
    readFrame(plain, batch, at, reader);
    at = last + (hasPayload ? 3 : 1);
  }
}

/** How many elements follow each frame code, payload place not counted. */
const FIELDS: readonly number[] = [4, 3, 2, 2, 1, 2];

function readFrame(code: number, batch: Batch, at: number, reader: BatchReader): void {
  const first = batch[at + 1] as number;
  switch (code) {
    case ASK:
      reader.ask(first, batch[at + 2] as number, batch[at + 3] as number, batch[at + 4] as object);
      break;
    case TELL:
      reader.tell(first, batch[at + 2] as number, batch[at + 3] as object);
      break;
    case REPLY:
      reader.reply(first, batch[at + 2]);
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
