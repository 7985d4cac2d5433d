// What a kind does on its way into the store beyond what its row in the resource table says: one file a kind that has such
// rules, under the first label of its group. Pure: time, caller and names come in. Validation is validation/kinds, what
// must be asked of the cluster is an admission plugin.
import type { Dialect } from '../../config/dialect.ts';
import type { User } from '../authorization/attributes.ts';
import type { Grant } from '../authorization/grant.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { Deletion, DeletionOutcome } from '../metadata/deletion.ts';
import type { ResourceType } from '../resource-type.ts';

/** What of a write the rules of a kind may depend on. */
export interface WriteFacts {
  /** In the version that the client speaks, as are the objects. */
  readonly type: ResourceType;
  readonly dialect: Dialect;
  /** Who asks for it. */
  readonly user: User;
  readonly subresource: string;
  readonly nowIso: string;
  /** The object as it is stored; undefined where there is none yet. */
  readonly old: JsonObject | undefined;
}

/**
 * The rules of one kind, each at its place among the steps of a write (actors/admission/steps/steps.ts). The objects given are
 * never changed; an object that needs no change is answered as it is.
 */
export interface Strategy {
  /** What a client's object stands for: its shorthands written out, what it may not say taken out. Defaults follow. */
  readonly meant?: (object: JsonObject, facts: WriteFacts) => JsonObject;
  /**
   * Brings fields that say the same into step. What is in step stays so whatever becomes of its metadata; of pods, of which specs are
   * known apart, neither has the spec a part in it.
   */
  readonly inStep?: (object: JsonObject) => JsonObject;
  /** Some of its defaults say its name again: where that is generated they are filled in once it is there. */
  readonly hasDefaultsByName?: true;
  /**
   * What the server adds to a new object, complete and named. Its creator does not own it. The object, its metadata and the status
   * that its kind begins with are the write's own: they may be changed in place.
   */
  readonly onCreate?: (object: JsonObject, facts: WriteFacts) => JsonObject;
  /** What an update may change, of an object that has its defaults. */
  readonly onUpdate?: (object: JsonObject, old: JsonObject, facts: WriteFacts) => JsonObject;
  /** What the server makes of an updated object that has the stored status again. */
  readonly onKept?: (object: JsonObject) => JsonObject;
  /** What a write of the object gives others the right to do; absent or undefined: nothing. */
  readonly grants?: (object: JsonObject, old: JsonObject | undefined) => Grant | undefined;
  /** Seconds that an object may take to end; absent: objects of the kind end at once. */
  readonly graceSeconds?: (object: JsonObject, askedSeconds: number | undefined) => number;
  /** Fields that a stored object can be selected by, and the texts of them by which `graceSeconds` is 0 whatever else it says. */
  readonly endsAtOnce?: readonly (readonly [field: string, text: string])[];
  /** Why no DELETE takes an object of that name; undefined where one does. */
  readonly keptFor?: (name: string) => string | undefined;
  /** What a DELETE makes of an object where that is not the same for all kinds. */
  readonly onDelete?: (object: JsonObject, type: ResourceType, deletion: Deletion) => DeletionOutcome | undefined;
  /** The store key of a type: its object of the same name is deleted with the removal of this one. */
  readonly companion?: string;
  /** True while something beside its finalizers keeps an object that is being deleted. */
  readonly isHeld?: (object: JsonObject) => boolean;
}

/** Of kinds without rules of their own. */
export const NO_RULES: Strategy = {};
