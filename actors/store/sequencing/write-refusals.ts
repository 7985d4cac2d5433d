// What the store remembers of a disk that refused a write: the writes that follow are refused for a moment without a try,
// since a try costs the disk and the store more than it costs a client to ask again.
import type { ActorContext } from '../../../runtime/actor.ts';
import { isOrchError, type OrchError } from '../../../runtime/errors.ts';

/** Between two tries of the disk. */
const RETRY_MS = 250;

const REFUSALS: ReadonlySet<string> = new Set(['StorageFull', 'StorageFailed', 'StorageUnsure']);

/** True for an error that says: nothing is stored, or will be once a later write is. */
export function isRefusedWrite(error: unknown): error is OrchError {
  return isOrchError(error) && REFUSALS.has(error.code);
}

export class WriteRefusals {
  readonly #context: ActorContext;
  #retryMs = 0;
  /** Why writes are refused; undefined while they are not. */
  current: OrchError | undefined;

  constructor(context: ActorContext) {
    this.#context = context;
  }

  /** True while another try is not due. */
  get isFresh(): boolean {
    return this.current !== undefined && this.#context.clock.monotonicMs() < this.#retryMs;
  }

  refused(error: OrchError): void {
    if (this.current?.message !== error.message) this.#context.log.error({ err: error }, 'writes are refused');
    this.current = error;
    this.#retryMs = this.#context.clock.monotonicMs() + RETRY_MS;
  }

  /** A batch became durable. */
  written(): void {
    if (this.current === undefined) return;
    this.current = undefined;
    this.#context.log.info({}, 'writes are stored again');
  }
}
