// What every write works with: the registry, the hub's present, the store's commit, time and randomness. The same for all
// writes of an admission actor, but for the number of the request.
import type { StoredForm } from '../../api/catalog/stored-form.ts';
import type { Registry } from '../../api/resources/registry.ts';
import type { Schema } from '../../api/schema/schema.ts';
import type { ObjectValidation } from '../../api/validation/object-validation.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Ref } from '../../runtime/actor.ts';
import type { HeapShare } from '../../runtime/memory/heap-share.ts';
import type { AuthProtocol } from '../auth/protocol.ts';
import type { StoreProtocol } from '../store/protocol.ts';
import type { AuditAnnotations } from './audit-annotations.ts';
import type { CommitTimes } from './commits/commit-times.ts';
import type { Completion } from './completion.ts';
import type { WebhookConversion } from './conversion/webhook-conversion.ts';
import type { KindVersions } from './kind-version.ts';
import type { KnownApplies } from './known-applies.ts';
import type { KnownSpecs } from './known-specs.ts';
import type { LongChecks } from './long-checks.ts';
import type { PluginChain } from './plugins/chain.ts';
import type { StoreReader } from './stored/store-reader.ts';
import type { Turns } from './turns.ts';

/** How deletions are carried out, as the operator set it. */
export interface DeletionSettings {
  /** `--enable-garbage-collector`: someone acts on the finalizers of garbage collection. */
  readonly collectsGarbage: boolean;
  /** `--delete-collection-workers`. */
  readonly collectionWorkers: number;
}

export interface WriteContext extends StoreReader {
  /** What plugins say of this write for its audit event: one for each attributes that it was looked at by. */
  readonly auditAnnotations: AuditAnnotations[];
  /** What this write takes of the heap. */
  readonly heapShare: HeapShare;
  readonly registry: Registry;
  readonly dialect: Dialect;
  /** Where the definitions of custom types are stored. */
  readonly definitionsKey: string;
  readonly schema: Schema;
  /** Between the version a client speaks and the one that is stored. */
  readonly forms: StoredForm;
  /** Where a definition's webhook does that. */
  readonly conversion: WebhookConversion;
  readonly store: Ref<StoreProtocol>;
  readonly commitTimes: CommitTimes;
  /** Of all writes: who has lost a race for an object. */
  readonly turns: Turns;
  /** Asked by few writes only. */
  readonly auth: () => Ref<AuthProtocol>;
  readonly kinds: KindVersions;
  readonly plugins: PluginChain;
  readonly completion: Completion;
  /** Objects keep who owns their fields, and can be applied. */
  readonly serverSideApply: boolean;
  readonly knownApplies: KnownApplies;
  readonly knownSpecs: KnownSpecs;
  readonly validation: ObjectValidation;
  /** The same, where it may take long. */
  readonly longChecks: LongChecks;
  readonly deletion: DeletionSettings;
}
