// Snapshots being read by an operator (storage/upkeep/snapshot-file.ts): each a fixed view of the engine, read slice by slice while
// the store goes on. Owns those views: how many there may be, and that one nobody reads any more is closed.

import type { MessageOf, Reply } from '../../runtime/actor.ts';
import type { Timer, Timers } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import type { EngineView } from '../../storage/engines/local-engine.ts';
import { snapshotRecords } from '../../storage/upkeep/snapshot-file.ts';
import type { RevisionLog } from './log/revision-log.ts';
import type { OpenedSnapshot, RefusedSnapshot, StoreProtocol } from './protocol.ts';
import type { UnreadableValues } from './readers/unreadable-values.ts';

const OPEN_MAX = 2;
const SLICE_BYTES = 256 * 1024;
/** A view holds on to files that LevelDB would remove. */
const UNREAD_MS_MAX = 60_000;

interface Open {
  readonly view: EngineView;
  timer: Timer;
}

type SnapshotMessage = Extract<
  MessageOf<StoreProtocol>,
  { readonly type: 'openSnapshot' | 'readSnapshot' | 'closeSnapshot' }
>;

export class Snapshots {
  readonly #view: () => EngineView;
  readonly #log: RevisionLog;
  readonly #unreadable: Pick<UnreadableValues, 'all'>;
  readonly #timers: Timers;
  readonly #open = new Map<number, Open>();
  #lastId: number;

  /** `beforeFirst`: ids come behind it. Of each store others, for who reads may have begun with the one before. */
  constructor(
    view: () => EngineView,
    { log, unreadable }: { readonly log: RevisionLog; readonly unreadable: Pick<UnreadableValues, 'all'> },
    timers: Timers,
    beforeFirst: number,
  ) {
    this.#lastId = beforeFirst;
    this.#view = view;
    this.#log = log;
    this.#unreadable = unreadable;
    this.#timers = timers;
  }

  /** `answerSettled` answers an ask at once or after the batch being written. */
  onMessage(message: SnapshotMessage, reply: Reply, answerSettled: (answer: () => unknown) => void): void {
    switch (message.type) {
      case 'openSnapshot':
        answerSettled(() => this.#openNext());
        return;
      case 'readSnapshot':
        this.#read(message.id).then(
          (payload) => reply.send({ payload }),
          (error: unknown) => reply.fail(error),
        );
        return;
      case 'closeSnapshot':
        this.#close(message.id);
        return;
      default:
        unreachable(message);
    }
  }

  #openNext(): OpenedSnapshot | RefusedSnapshot {
    const [unread, ...more] = this.#unreadable.all();
    // What it is a version of is not known, and so not what a whole snapshot holds.
    if (unread !== undefined) {
      const others = more.length === 0 ? '' : ` and ${more.length} more`;
      return { refused: `the value of ${unread.path}${others} cannot be read: ${unread.why}` };
    }
    if (this.#open.size >= OPEN_MAX) throw new OrchError('Overloaded', 'other snapshots are being read');
    const id = ++this.#lastId;
    this.#open.set(id, { view: this.#view(), timer: this.#closeLater(id) });
    const { revision, digests, current } = this.#log;
    return { id, revision, objects: current.size, digest: digests.total };
  }

  /** The next objects as records, empty at the end. */
  async #read(id: number): Promise<Uint8Array> {
    const open = this.#open.get(id);
    if (open === undefined) throw new OrchError('Refused', 'this snapshot is not open any more');
    open.timer.cancel();
    try {
      return snapshotRecords(await open.view.next(SLICE_BYTES));
    } finally {
      if (this.#open.has(id)) open.timer = this.#closeLater(id);
    }
  }

  #close(id: number): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    open.timer.cancel();
    // The engine closes what is left when it closes itself.
    open.view.close().catch(() => {});
  }

  #closeLater(id: number): Timer {
    return this.#timers.after(UNREAD_MS_MAX, () => this.#close(id));
  }
}
