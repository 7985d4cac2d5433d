// POST: a new object gets its name, uid and time, is made complete, validated and stored, if its namespace lives and its
// name is free.
import type { JsonObject } from '../../api/json-value.ts';
import { nameSuffix, prepareCreate } from '../../api/metadata.ts';
import { metadataOf, timestampOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { alreadyExists, conflict, serverTimeout } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { EXPECT_ABSENT } from '../store/protocol.ts';
import { asAnswer } from './answer.ts';
import { commitOne } from './commit.ts';
import { draftPut, withAlso } from './draft.ts';
import { withWarnings } from './field-validation.ts';
import type { NamespaceGuard } from './namespace-guard.ts';
import { ownersOnce } from './owners-once.ts';
import { ownedByCreator, type Tracking, trackingOf, withManagedFields } from './ownership.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { decodeObject, kindOf, writeOptions } from './request-body.ts';
import { findPlace } from './store-reader.ts';
import { requireValidNew } from './validity.ts';
import type { WriteContext } from './write-context.ts';

/** Tries for a generated name that is free, and for a namespace that stands still. */
const TRIES_MAX = 8;

export async function create(
  write: WriteContext,
  namespaces: NamespaceGuard,
  request: WriteRequest,
  type: KnownType,
): Promise<WriteReply> {
  const dryRun = writeOptions('CreateOptions', write.dialect.metaGroup, request.parameters);
  const { object, warnings } = decodeObject(write.schema, request, kindOf(type));
  const tracking = trackingOf(write, request, type);
  const body = write.preparation.requested(object, type, request.user);
  const reply = await createObject(write, namespaces, type, body, request.target, dryRun, tracking);
  return withWarnings(reply, warnings);
}

/**
 * Stores an object under the path's namespace and name (empty: the object's own, or a generated one).
 *
 * @param tracking makes the creator the owner of its fields; undefined where the object says who owns them.
 */
export async function createObject(
  write: WriteContext,
  namespaces: NamespaceGuard,
  type: KnownType,
  given: JsonObject,
  target: { readonly namespace: string; readonly name: string },
  dryRun: boolean,
  tracking: Tracking | undefined,
): Promise<WriteReply> {
  const { clock, random } = write.context;
  const { object: body, warnings } = ownersOnce(given);
  const generated = (metadataOf(body).name ?? '') === '' && target.name === '';
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const creation = {
      namespace: target.namespace,
      name: target.name,
      nowIso: timestampOf(clock.nowMs()),
      uid: random.uuid(),
      randomSuffix: generated ? nameSuffix(() => random.next()) : '',
    };
    const asGiven = write.preparation.completed(prepareCreate(body, type, creation), type);
    const { plain, managedFieldsText } = ownedByCreator(tracking, asGiven, creation.nowIso);
    const complete = write.services.complete(type, write.preparation.admitted(plain, type), undefined);
    const name = metadataOf(complete).name ?? '';
    const guard = type.namespaced ? await namespaces.guardFor(type, target.namespace, name) : undefined;
    requireValidNew(write, type, complete);
    const { object, also } = await write.services.allocate(type, complete, undefined, tries > 0 || dryRun);
    const stored = write.forms.stored(type, object);
    if (dryRun) {
      if ((await findPlace(write, type, target.namespace, name)) !== null)
        throw new StatusError(alreadyExists(type, name));
      const made = withManagedFields(write.forms.asked(type, stored), managedFieldsText);
      return withWarnings({ code: 201, body: asAnswer(type, made) }, warnings);
    }
    const draft = withAlso(draftPut(type, stored, EXPECT_ABSENT, managedFieldsText), also);
    const result = await commitOne(write, draft, guard === undefined ? undefined : [guard]);
    if (result.ok) return withWarnings({ code: 201, place: result.places[0]! }, warnings);
    if (result.reason === 'exists' && result.key === draft.key && !generated) {
      throw new StatusError(alreadyExists(type, name));
    }
  }
  if (generated) throw new StatusError(serverTimeout('POST', type, 0));
  throw new StatusError(conflict(type, metadataOf(body).name ?? '', 'its namespace kept changing, try again'));
}
