// What a DELETE makes of one object: whether its plugins let it go, its grace period, its finalizers. Decides and drafts;
// reading and committing is the callers'.
import { type Deletion, type DeletionOutcome, type PropagationPolicy, prepareDelete } from '../../api/deletion.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf, timestampOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { DeleteOptions } from '../../api/validation/options.ts';
import { type Attributes, NO_OBJECT } from './attributes.ts';
import { converted } from './conversion/converted.ts';
import { type Draft, draftDelete, draftPut, draftPutAsStored, withAlso } from './draft.ts';
import { NO_PLUGINS } from './plugins/chain.ts';
import { PLUGIN_STEPS, takeSteps } from './steps.ts';
import type { StoredObject } from './store-reader.ts';
import type { WriteContext } from './write-context.ts';

/** What becomes of an object on a DELETE with valid options. */
export function outcomeFor(
  write: WriteContext,
  type: KnownType,
  object: JsonObject,
  options: DeleteOptions,
): DeletionOutcome {
  const { strategy } = write.kinds.of(type);
  const deletion: Deletion = {
    nowMs: write.context.clock.nowMs(),
    graceSeconds: strategy.graceSeconds?.(object, options.gracePeriodSeconds),
    graceAsked: options.gracePeriodSeconds !== undefined,
    propagationPolicy: options.propagationPolicy as PropagationPolicy | undefined,
    orphanDependents: options.orphanDependents,
    collectsGarbage: write.deletion.collectsGarbage,
  };
  return strategy.onDelete?.(object, type, deletion) ?? prepareDelete(object, type, deletion);
}

/** Asks the plugins whether an object may be deleted. Throws what refuses it. */
export function admitDeletion(
  write: WriteContext,
  attributes: Attributes,
  tries: number,
  { object, schemaGeneration }: StoredObject,
): Promise<void> | undefined {
  const { plugins } = attributes.asked;
  if (plugins === NO_PLUGINS) return undefined;
  const old = converted(write, attributes.type, (forms) => forms.asked(attributes.type, object, schemaGeneration));
  const admit = (shown: JsonObject): Promise<void> | undefined => {
    attributes.begin(tries, timestampOf(write.context.clock.nowMs()), shown, NO_OBJECT);
    return takeSteps(PLUGIN_STEPS, attributes, write);
  };
  return old instanceof Promise ? old.then(admit) : admit(old);
}

/** The outcome as a draft against the revision that was read, with what a removed object gives back. */
export async function draftFor(
  write: WriteContext,
  type: KnownType,
  stored: StoredObject,
  { action, object }: DeletionOutcome,
): Promise<Draft> {
  const { namespace = '', name = '' } = metadataOf(object);
  const { revision } = stored.place;
  if (action !== 'remove') {
    // It may lie there in a version that was stored once.
    const next = await converted(write, type, (forms) =>
      type.custom === undefined ? object : forms.stored(type, object),
    );
    const draft = next === object ? draftPutAsStored(type, next, revision, stored) : draftPut(type, next, revision);
    return action === 'storeAndRemove' ? { ...draft, isLast: true } : draft;
  }
  const { allocation } = write.kinds.of(type);
  const removal = draftDelete(type, namespace, name, revision);
  return allocation === undefined ? removal : withAlso(removal, await allocation.release(type, object));
}
