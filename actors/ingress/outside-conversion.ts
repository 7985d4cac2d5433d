// Custom objects whose definition has a webhook that converts them: the thread's admission, which calls the webhooks, is asked, a
// batch at a time. Who asks waits; everybody else is served meanwhile.
import { isLarge } from '../../api/in-parts.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { timeout } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { Ref } from '../../runtime/actor.ts';
import type { Timers } from '../../runtime/environment.ts';
import { ownTurn } from '../../runtime/next-turn.ts';
import type { AdmissionProtocol } from '../admission/protocol.ts';

/** Of what is large, as it is stored, how much is read and on its way at a time; one goes however large it is. */
const UNDER_WAY_BYTES_MAX = 8 * 1024 * 1024;
const TOO_MANY = 'too much else is being converted by webhooks of definitions';

export class OutsideConversion {
  readonly #admission: Ref<AdmissionProtocol>;
  readonly #deadlineMs: number;
  readonly #timers: Pick<Timers, 'soon' | 'after'>;
  #underWayBytes = 0;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

  constructor(admission: Ref<AdmissionProtocol>, deadlineMs: number, timers: Pick<Timers, 'soon' | 'after'>) {
    this.#admission = admission;
    this.#deadlineMs = deadlineMs;
    this.#timers = timers;
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
   * Reads objects, has them converted, and what else is done with them while they are in memory as a whole: at once, where they are
   * not large, else when there is room for them.
   *
   * @param bytes of what is stored.
   * Rejects with 504 where there is none in time.
   */
  async whenThereIsRoom<T>(bytes: number, work: () => Promise<T>): Promise<T> {
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
