// The values in the store that this server cannot read, as readers and clients are told of them. Each is said once in the log, and so
// many at a time: whoever took a key away may have left thousands behind. Nothing of a value is in any of it.
import type { ActorContext } from '../../../runtime/actor.ts';
import type { UnreadableValue } from '../../../storage/following/publication.ts';

const LINES_MAX = 10;
const PERIOD_MS = 60_000;

export class UnreadableValues {
  readonly #context: Pick<ActorContext, 'clock' | 'log'>;
  readonly #byKey = new Map<string, UnreadableValue>();
  #isChanged = false;
  #periodBeganMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #leftOut = 0;

  constructor(context: Pick<ActorContext, 'clock' | 'log'>) {
    this.#context = context;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): UnreadableValue | undefined {
    return this.#byKey.get(key);
  }

  all(): readonly UnreadableValue[] {
    return [...this.#byKey.values()];
  }

  /** All there are, where that has changed since it was asked last. */
  takeChanged(): readonly UnreadableValue[] | undefined {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    return this.all();
  }

  /** A value cannot be read. `message`: for the log. */
  add(value: UnreadableValue, message: string): void {
    const before = this.#byKey.get(value.key);
    if (before?.why === value.why) return;
    this.#byKey.set(value.key, before === undefined ? value : { ...before, why: value.why });
    this.#isChanged = true;
    this.#say(message);
  }

  /** It can be read again, or is gone. */
  remove(key: string): void {
    if (!this.#byKey.delete(key)) return;
    this.#isChanged = true;
    if (this.#hasRoom()) this.#context.log.info({ key }, 'what could not be read is read again, or gone');
  }

  clear(): void {
    this.#isChanged ||= this.#byKey.size > 0;
    this.#byKey.clear();
  }

  #say(message: string): void {
    if (!this.#hasRoom()) {
      this.#leftOut++;
      return;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    this.#context.log.error({ message, ...(leftOut > 0 && { leftOut }) }, 'a value in the store cannot be read');
  }

  /** False where so much has been said that it is left out. */
  #hasRoom(): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    if (nowMs - this.#periodBeganMs >= PERIOD_MS) {
      this.#periodBeganMs = nowMs;
      this.#lines = 0;
    }
    if (this.#lines >= LINES_MAX) return false;
    this.#lines++;
    return true;
  }
}
