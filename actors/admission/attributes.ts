// The attributes of a write: the one record that every step, every strategy and every admission plugin is given. Who writes
// what under which options is fixed; the objects, and what is committed with them, are those of the try under way.

import type { User } from '../../api/authorization/attributes.ts';
import type { EncodedTexts } from '../../api/codec/encoded-texts.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { asObject } from '../../api/json/object-fields.ts';
import { ownCopy } from '../../api/json/own-copy.ts';
import type { DeleteOptions } from '../../api/requests/request-options.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { WriteFacts } from '../../api/strategy/strategy.ts';
import type { SubresourceView } from '../../api/subresource-views.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Soon } from '../../runtime/soon.ts';
import type { Guard, TransactionResult } from '../store/protocol.ts';
import type { AuditAnnotations } from './audit-annotations.ts';
import type { CommitContext } from './commits/commit.ts';
import { type Draft, NO_DRAFTS, NO_GUARDS } from './commits/draft.ts';
import type { KindVersion } from './kind-version.ts';
import type { KnownSpec } from './known-specs.ts';
import type { AuditAnnotation, WriteParameters } from './protocol.ts';
import type { StoreReader } from './stored/store-reader.ts';

/** What admission plugins call a write. */
export type Operation = 'create' | 'update' | 'delete' | 'connect';

/** A plugin's part in a phase. It throws a StatusError to refuse the write. */
export type PluginCall = (attributes: Attributes) => Soon<void>;

/** Commits a write's draft. */
export type Committer = (write: CommitContext, draft: Draft) => Promise<TransactionResult>;

/** The plugins that want to hear of a write, in the order they run. */
export interface PluginPhases {
  /** May replace `attributes.object`. */
  readonly mutating: readonly PluginCall[];
  /** See the object as it will be stored, and change nothing. */
  readonly validating: readonly PluginCall[];
  /** True where all that mutate are (`AdmissionPluginKind.isRepeatable`). */
  readonly isRepeatable: boolean;
}

/** What a write is about, as far as its request says it. */
export interface Asked {
  readonly operation: Operation;
  readonly kind: KindVersion;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** The name in the path. Empty for a POST to a collection, and for the objects of a collection that is deleted. */
  readonly name: string;
  readonly user: User;
  /** A component of this server asks: nobody is asked whether it may, whatever the modes of authorization. */
  readonly isInside: boolean;
  readonly userAgent: string;
  readonly parameters: WriteParameters;
  /** What plugins say of the write for its audit event. */
  readonly auditAnnotations: AuditAnnotations;
  /** Reads for this write alone: what it asks carries the number of the request. */
  readonly reader: StoreReader;
  /** Of a DELETE: what it asks for, wherever it says so. */
  readonly deletion: DeleteOptions | undefined;
  readonly dryRun: boolean;
  /** False where the object says itself who owns its fields: it was applied. */
  readonly isTracked: boolean;
  readonly isPatch: boolean;
  /** Lists that a new object's creator gave empty, which it has no more (`DecodedObject.emptied`); absent: none. */
  readonly emptied?: readonly string[] | undefined;
  readonly plugins: PluginPhases;
  /** How the client sees the object, where that is as another kind (`scale`). */
  readonly view: SubresourceView | undefined;
}

/** Pods that say they want none get none from a policy. */
export const SUPPLEMENTAL_GROUPS = 'spec.securityContext.supplementalGroups';

export const NO_OBJECT: JsonObject = Object.freeze({});
const NOTHING: readonly string[] = Object.freeze([]);

export class Attributes implements WriteFacts {
  readonly asked: Asked;
  readonly dialect: Dialect;
  readonly #standing: readonly Guard[];
  /** The spec that plugins of this round have copied. */
  #ownSpec: Record<string, unknown> | undefined;
  /** Counted from 0: a try is made again when another write came in between. */
  tries = 0;
  nowIso = '';
  #old: JsonObject | undefined;
  /** Makes `old` of what is stored, where nobody has asked for it yet. */
  #readOld: (() => JsonObject) | undefined;
  #object: JsonObject = NO_OBJECT;
  /** As `sent`. */
  #sent: JsonObject | undefined;
  /** Makes `object`, until somebody asks for it or replaces it. */
  #readObject: (() => JsonObject) | undefined;
  /** Only its metadata is another than the stored object's (`beginApart`), and nobody has replaced it. */
  isApart = false;
  /** What was replaced when it no longer was. */
  replaced: JsonObject = NO_OBJECT;
  /** What it is about is large: others have their turn between its steps. */
  isLarge = false;
  /** A plugin that brings in what lacks its defaults sets this to false. */
  isComplete = true;
  /** JSON for the managedFields of a new object, which then has none itself. */
  managedFieldsText = '';
  /** Keys that must be as they were read for the write to be committed. */
  guards: readonly Guard[];
  /** What is committed with the object, or not at all. */
  also: readonly Draft[] = NO_DRAFTS;
  /** Mutating plugins are asked once more, since one changed what others have seen: said in the first round, it holds. */
  wantsSecondRound = false;
  /** True while they are. */
  isSecondRound = false;
  /** How the write is committed, where a plugin commits it together with others. May reject with a StatusError. */
  commitBy: Committer | undefined;
  /** What has been encoded of the object since its last change, for those it was told to. */
  texts: EncodedTexts | undefined;
  /** Of a pod that is created: what is known of the spec that was sent. */
  knownSpec: KnownSpec | undefined;
  /** Lists that the client gave empty, which the object has no more (`DecodedObject.emptied`). */
  emptied: readonly string[] = NOTHING;
  /** For the client's user. */
  warnings: readonly string[] = NOTHING;

  /**
   * @param standing guards of every try: what the write goes by beside the object itself.
   */
  constructor(asked: Asked, dialect: Dialect, standing: readonly Guard[] = NO_GUARDS) {
    this.asked = asked;
    this.#standing = standing;
    // A DELETE that no plugin is asked about does not begin its tries.
    this.guards = standing;
    this.dialect = dialect;
  }

  get kind(): KindVersion {
    return this.asked.kind;
  }

  get type(): KnownType {
    return this.asked.kind.type;
  }

  get subresource(): string {
    return this.asked.subresource;
  }

  get user(): User {
    return this.asked.user;
  }

  /** The object as it is stored, in the version that the client speaks. Undefined where there is none yet. */
  get old(): JsonObject | undefined {
    if (this.#readOld !== undefined) this.old = this.#readOld();
    return this.#old;
  }

  set old(old: JsonObject | undefined) {
    this.#old = old;
    this.#readOld = undefined;
  }

  /** The object as it is to be stored, in the same version; `NO_OBJECT` when it is deleted. Steps and plugins replace it. */
  get object(): JsonObject {
    if (this.#readObject !== undefined) {
      this.#object = this.#readObject();
      this.#readObject = undefined;
    }
    return this.#object;
  }

  set object(object: JsonObject) {
    if (this.isApart) this.replaced = this.object;
    this.#object = object;
    this.#readObject = undefined;
    this.isApart = false;
  }

  /** The object of an update as it was wanted, before what this update cannot change was put back. */
  get sent(): JsonObject {
    return this.#sent ?? this.object;
  }

  set sent(object: JsonObject) {
    this.#sent = object;
  }

  /**
   * As `begin`, for an update that leaves all but metadata as it is stored. Both objects are made if a plugin asks for them: in this turn,
   * or after `object` was read in it.
   */
  beginApart(tries: number, nowIso: string, readOld: () => JsonObject, readObject: () => JsonObject): void {
    this.begin(tries, nowIso, undefined, NO_OBJECT);
    this.#readOld = readOld;
    this.#readObject = readObject;
    this.isApart = true;
  }

  /** As `begin`, for a DELETE. `readOld` makes what is deleted, if a plugin asks for it: in this turn, or after `old` was read in it. */
  beginDeletion(tries: number, nowIso: string, readOld: () => JsonObject): void {
    this.begin(tries, nowIso, undefined, NO_OBJECT);
    this.#readOld = readOld;
  }

  /** Forgets what the try before has found. */
  begin(tries: number, nowIso: string, old: JsonObject | undefined, object: JsonObject): void {
    this.tries = tries;
    this.nowIso = nowIso;
    this.old = old;
    // What the try before was about may lie elsewhere by now.
    this.isApart = false;
    this.object = object;
    this.#sent = undefined;
    this.isComplete = true;
    this.managedFieldsText = '';
    this.emptied = this.asked.emptied ?? NOTHING;
    this.guards = this.#standing;
    this.also = NO_DRAFTS;
    this.wantsSecondRound = false;
    this.isSecondRound = false;
    this.commitBy = undefined;
    this.texts = undefined;
    this.#ownSpec = undefined;
    this.warnings = NOTHING;
    this.asked.auditAnnotations.begin(tries);
  }

  /** Forgets what mutating plugins have guarded and added: they will again. */
  beginSecondRound(): void {
    this.isSecondRound = true;
    // Webhooks remember what they have been told.
    this.#ownSpec = undefined;
    this.guards = this.#standing;
    this.also = NO_DRAFTS;
  }

  /**
   * The object's spec, for a plugin of the mutating phase to set members of: copied by the first that wants to, so that neither the
   * stored object nor what the client sent is changed. What its members hold is shared still.
   */
  ownSpec(): Record<string, unknown> {
    const { spec } = this.object;
    if (this.#ownSpec !== undefined && spec === this.#ownSpec) return this.#ownSpec;
    const own = ownCopy(asObject(spec)) as Record<string, unknown>;
    const object = ownCopy(this.object);
    object.spec = own;
    this.#ownSpec = own;
    this.object = object;
    return own;
  }

  /** The write is committed only if a key is still as it was read. */
  guardBy(guard: Guard): void {
    this.guards = this.guards.length === 0 ? [guard] : [...this.guards, guard];
  }

  /** Other changes that are committed with this one. */
  commitAlso(drafts: readonly Draft[]): void {
    if (drafts.length > 0) this.also = this.also.length === 0 ? drafts : [...this.also, ...drafts];
  }

  warn(text: string): void {
    this.warnings = [...this.warnings, text];
  }

  /** For the audit event, in the order they were said. */
  get auditAnnotations(): readonly AuditAnnotation[] {
    return this.asked.auditAnnotations.all;
  }

  /** Says something for the audit event; false where that is not kept (`AuditAnnotations.say`). */
  annotate(key: string, value: string, level: AuditAnnotation['level'] = 'Metadata'): boolean {
    return this.asked.auditAnnotations.say({ key, value, level });
  }
}
