// What extension servers have of namespaces that are being deleted, as the last attempt to delete it there found. Knows whether there are
// such servers at all: while there are none, nothing is asked. Decides nothing about namespaces.
import { isSwept, type NamespaceSweep } from '../../../api/aggregation/namespace-sweep.ts';
import { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { Due } from '../controller.ts';
import { noteApiService } from '../remote-events.ts';

/** Deletes what extension servers have of a namespace, and says what is left. Rejects where nobody can. */
export type SweepNamespace = (namespace: string) => Promise<NamespaceSweep>;

/** Attempts at a time; the other namespaces wait for their turn. */
const UNDER_WAY_MAX = 4;

interface Known {
  sweep: NamespaceSweep | undefined;
  /** Of the servers that were asked. */
  edition: number;
}

export class RemoteContents {
  readonly #due: Due;
  readonly #sweepOne: SweepNamespace;
  readonly #remotes: RemoteGroups;
  readonly #known = new Map<string, Known>();
  readonly #underWay = new Set<string>();
  readonly #waiting = new Set<string>();

  constructor(dialect: Dialect, due: Due, sweepOne: SweepNamespace) {
    this.#due = due;
    this.#sweepOne = sweepOne;
    this.#remotes = new RemoteGroups(dialect);
  }

  /** Where APIServices are stored. */
  get storageKey(): string {
    return this.#remotes.storageKey;
  }

  clear(): void {
    this.#remotes.reset();
    this.#known.clear();
    this.#waiting.clear();
  }

  /** One event of an APIService. True when it tells something new of another server. */
  onEvent(event: FeedEvent): boolean {
    return noteApiService(this.#remotes, event);
  }

  /** Nothing of it is left at the servers that there are now. */
  isSwept(namespace: string): boolean {
    if (this.#remotes.isEmpty) return true;
    const { sweep, edition } = this.#known.get(namespace) ?? UNKNOWN;
    return sweep !== undefined && edition === this.#remotes.edition && isSwept(sweep);
  }

  /** What the last attempt found; undefined before there was one, or where no server could have anything. */
  of(namespace: string): NamespaceSweep | undefined {
    return this.#remotes.isEmpty ? undefined : this.#known.get(namespace)?.sweep;
  }

  /** Begins an attempt, unless one is under way. The namespace is due again when it has ended. */
  begin(namespace: string): void {
    if (this.#remotes.isEmpty || this.#underWay.has(namespace)) return;
    if (this.#underWay.size >= UNDER_WAY_MAX) {
      this.#waiting.add(namespace);
      return;
    }
    this.#waiting.delete(namespace);
    this.#underWay.add(namespace);
    const known = this.#known.get(namespace) ?? { ...UNKNOWN };
    this.#known.set(namespace, known);
    const { edition } = this.#remotes;
    const end = (sweep: NamespaceSweep): void => {
      this.#underWay.delete(namespace);
      Object.assign(known, { sweep, edition });
      this.#due.add(namespace);
      const [next] = this.#waiting;
      if (next !== undefined) this.begin(next);
    };
    this.#sweepOne(namespace).then(end, (error: unknown) => end(unasked(error)));
  }

  forget(namespace: string): void {
    this.#known.delete(namespace);
    this.#waiting.delete(namespace);
  }
}

const UNKNOWN: Known = { sweep: undefined, edition: -1 };

function unasked(error: unknown): NamespaceSweep {
  const why = messageOf(error);
  return { unknown: [['*/*', why]], failures: [], remaining: [], finalizers: [] };
}
