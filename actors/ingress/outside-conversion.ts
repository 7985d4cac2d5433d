// Custom objects whose definition has a webhook that converts them: the thread's admission, which calls the webhooks, is asked, a
// batch at a time. Who asks waits; everybody else is served meanwhile. What waits for a webhook is held on the heap, however slow that is,
// so no more is begun than there is room for.
import { isLarge } from '../../api/in-parts.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { timeout } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { Ref } from '../../runtime/actor.ts';
import type { Timers } from '../../runtime/environment.ts';
import type { HeapRoom } from '../../runtime/memory/heap-room.ts';
import { HeapShare } from '../../runtime/memory/heap-share.ts';
import { ownTurn } from '../../runtime/next-turn.ts';
import { heapBytesOfBody } from '../../transport/heap-of-body.ts';
import type { AdmissionProtocol } from '../admission/protocol.ts';

/** Of what is large, as it is stored, how much is read and on its way at a time; one goes however large it is. */
const UNDER_WAY_BYTES_MAX = 8 * 1024 * 1024;
const TOO_MANY = 'too much else is being converted by webhooks of definitions';

/** Of what a write comes to: there are two forms on the heap, as it is stored and as the webhook has answered, and no defaults. */
const FORMS_SHARE = 1 / 3;

/** What is converted at a time, in bytes: as it is stored, and about what it comes to on the heap. */
export interface ConvertedSize {
  readonly bytes: number;
  readonly heapBytes: number;
}

/** The size of an object as it is stored. */
export function convertedSize(json: Uint8Array): ConvertedSize {
  return { bytes: json.length, heapBytes: heapBytesOfBody(json, 'application/json') * FORMS_SHARE };
}

/** The size of nothing, and of two together. */
export const NOTHING_CONVERTED: ConvertedSize = { bytes: 0, heapBytes: 0 };
export function convertedTogether(one: ConvertedSize, other: ConvertedSize): ConvertedSize {
  return { bytes: one.bytes + other.bytes, heapBytes: one.heapBytes + other.heapBytes };
}

export class OutsideConversion {
  readonly #admission: Ref<AdmissionProtocol>;
  readonly #deadlineMs: number;
  readonly #timers: Pick<Timers, 'soon' | 'after'>;
  readonly #heapRoom: HeapRoom;
  #underWayBytes = 0;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  constructor(
    admission: Ref<AdmissionProtocol>,
    deadlineMs: number,
    timers: Pick<Timers, 'soon' | 'after'>,
    heapRoom: HeapRoom,
  ) {
    this.#admission = admission;
    this.#deadlineMs = deadlineMs;
    this.#timers = timers;
    this.#heapRoom = heapRoom;
  }

  /** Stored objects in the version of a type, in their order. Rejects with the StatusError that the client is told. */
  async into(type: KnownType, objects: readonly JsonObject[], requestNumber: number): Promise<readonly JsonObject[]> {
    if (objects.length === 0) return objects;
    const { group, version, plural: resource } = type;
    const answer = await this.#admission.ask(
      { type: 'convert', target: { group, version, resource }, objects },
      { deadlineMs: this.#deadlineMs, requestNumber },
    );
    if (answer.refused !== undefined) throw new StatusError(answer.refused);
    return answer.objects;
  }

  /**
   * Reads objects, has them converted, and what else is done with them while they are in memory as a whole, when there is room for them
   * on the heap, and where they are large, among the large ones. Rejects with 504 where there is none in time.
   */
  async whenThereIsRoom<T>(size: ConvertedSize, work: () => Promise<T>): Promise<T> {
    const share = new HeapShare(this.#heapRoom);
    try {
      return await this.someOfMany(share, size, work);
    } finally {
      share.giveBack();
    }
  }

  /**
   * The same for who converts many, some after others, and keeps them all until it has ended.
   *
   * @param bytes of all that is kept, as it is stored.
   */
  async keepingMany<T>(bytes: number, work: (share: HeapShare) => Promise<T>): Promise<T> {
    const share = new HeapShare(this.#heapRoom);
    try {
      if (bytes > 0) await this.#inTime(share.keep(bytes));
      return await work(share);
    } finally {
      share.giveBack();
    }
  }

  /** Some of them. */
  async someOfMany<T>(share: HeapShare, { bytes, heapBytes }: ConvertedSize, work: () => Promise<T>): Promise<T> {
    // In this order: who waits for the heap would else hold up large ones that have it.
    await this.#inTime(share.borrow(heapBytes));
    return this.#amongLarge(bytes, work);
  }

  async #amongLarge<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (!isLarge(bytes)) return work();
    if (this.#waiting.length > 0 || !this.#hasRoom(bytes)) await this.#room(bytes);
    else this.#underWayBytes += bytes;
    try {
      await this.turn(bytes);
      return await work();
    } finally {
      this.#underWayBytes -= bytes;
      this.#beginNext();
    }
  }

  /** A turn for the next step with so many bytes, in which nothing else is done that takes long. */
  turn(bytes: number): Promise<void> | undefined {
    return isLarge(bytes) ? ownTurn(this.#timers) : undefined;
  }

  /** What comes too late its share gives back. */
  #inTime(room: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const patience = this.#timers.after(this.#deadlineMs, () => reject(new StatusError(timeout(TOO_MANY))));
      void room.then(() => {
        patience.cancel();
        resolve();
      });
    });
  }

  #room(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const patience = this.#timers.after(this.#deadlineMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new StatusError(timeout(TOO_MANY)));
      });
      const begin = (): void => {
        patience.cancel();
        resolve();
      };
      const waiting = { bytes, begin };
      this.#waiting.push(waiting);
    });
  }

  #hasRoom(bytes: number): boolean {
    return this.#underWayBytes === 0 || this.#underWayBytes + bytes <= UNDER_WAY_BYTES_MAX;
  }

  #beginNext(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#underWayBytes += next.bytes;
      next.begin();
    }
  }
}
