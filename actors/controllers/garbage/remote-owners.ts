// What is known of owners that extension servers have: their objects are not followed here, so each is asked for when a dependent is
// seen, and again from time to time. Knows nothing of what follows from it.
import type { RemoteOwner, RemoteOwnerAsked } from '../../../api/aggregation/remote-owner.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { Due } from '../controller.ts';
import type { OwnerRelation } from './owner-types.ts';
import type { GraphNode, OwnerReference } from './ownership-graph.ts';

/** Asks the server that has the owner. Rejects where nobody can. */
export type LookUpOwner = (asked: RemoteOwnerAsked) => Promise<RemoteOwner>;

/** How old what is known of an owner may be. */
export const LOOK_AGAIN_MS = 30_000;
/** Look-ups at a time; the others wait for their turn. */
const UNDER_WAY_MAX = 8;

interface Known {
  readonly asked: RemoteOwnerAsked;
  readonly uid: string;
  readonly dependents: Set<string>;
  relation: OwnerRelation;
  /** Undefined: never. */
  atMs: number | undefined;
  isDue: boolean;
}

export class RemoteOwners {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #due: Due;
  readonly #lookUp: LookUpOwner;
  readonly #known = new Map<string, Known>();
  #waiting: Known[] = [];
  #underWay = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, due: Due, lookUp: LookUpOwner) {
    this.#clock = clock;
    this.#due = due;
    this.#lookUp = lookUp;
  }

  /** The servers are others: nothing is known. */
  clear(): void {
    this.#known.clear();
    this.#waiting = [];
  }

  /** What a dependent's reference amounts to, as far as is known. The dependent is due again when more is. */
  relation({ uid, namespace }: GraphNode, reference: OwnerReference): OwnerRelation {
    const key = keyOf(namespace, reference);
    let known = this.#known.get(key);
    if (known === undefined) {
      const { apiVersion, kind, name } = reference;
      const asked = { apiVersion, kind, namespace, name };
      known = {
        asked,
        uid: reference.uid,
        dependents: new Set(),
        relation: 'unknown',
        atMs: undefined,
        isDue: false,
      };
      this.#known.set(key, known);
    }
    known.dependents.add(uid);
    if (!known.isDue && this.#isOld(known)) {
      known.isDue = true;
      this.#waiting.push(known);
      this.#begin();
    }
    return known.relation;
  }

  /** A dependent is gone, or has other owners. */
  forget({ uid, namespace }: GraphNode, references: readonly OwnerReference[]): void {
    if (this.#known.size === 0) return;
    for (const reference of references) {
      const key = keyOf(namespace, reference);
      const known = this.#known.get(key);
      if (known?.dependents.delete(uid) === true && known.dependents.size === 0) this.#known.delete(key);
    }
  }

  // Another object of the name has another uid: one that is gone stays gone.
  #isOld({ relation, atMs }: Known): boolean {
    return relation !== 'absent' && (atMs === undefined || this.#clock.monotonicMs() - atMs >= LOOK_AGAIN_MS);
  }

  #begin(): void {
    while (this.#underWay < UNDER_WAY_MAX) {
      const known = this.#waiting.shift();
      if (known === undefined) return;
      this.#underWay++;
      this.#lookUp(known.asked).then(
        (owner) => this.#end(known, relationTo(owner, known.uid)),
        () => this.#end(known, 'unknown'),
      );
    }
  }

  #end(known: Known, relation: OwnerRelation): void {
    this.#underWay--;
    known.isDue = false;
    known.atMs = this.#clock.monotonicMs();
    const isNews = known.relation !== relation;
    known.relation = relation;
    // Of one that has been forgotten meanwhile, nobody wants to know.
    if (isNews) for (const uid of known.dependents) this.#due.add(uid);
    this.#begin();
  }
}

function relationTo(owner: RemoteOwner, uid: string): OwnerRelation {
  if (owner.is !== 'present') return owner.is;
  if (owner.uid !== uid) return 'absent';
  return ({ none: 'solid', foreground: 'waiting', orphan: 'orphaning' } as const)[owner.deletion];
}

function keyOf(namespace: string, { apiVersion, kind, name, uid }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, namespace, name, uid]);
}
