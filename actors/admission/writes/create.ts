// POST: a new object goes through the steps of a create and is stored, if its namespace lives and its name is free.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { alreadyExists, conflict, definitionTerminating, serverTimeout } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { type Soon, whenThere } from '../../../runtime/soon.ts';
import { EXPECT_ABSENT } from '../../store/protocol.ts';
import type { Attributes } from '../attributes.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { knownBodyOf } from '../bodies/known-body.ts';
import { type DecodedObject, decodedObject, kindOf, metadataAlone, writeOptions } from '../bodies/request-body.ts';
import { draftPut, requireSize, withAlso } from '../commits/draft.ts';
import { canonicalMetadata } from '../completion.ts';
import { asReadBack, converted } from '../conversion/converted.ts';
import type { KnownSpec } from '../known-specs.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { withManagedFields } from '../shown-owners.ts';
import { CREATE_STEPS, takeSteps } from '../steps/steps.ts';
import { decodePlace, findPlace } from '../stored/store-reader.ts';
import type { WriteContext } from '../write-context.ts';
import { asAnswer } from './answer.ts';
import { type Attempt, type Refusal, untilCommitted } from './attempts.ts';
import { attributesOf } from './request-attributes.ts';

/** Tries for a generated name that is free, and for a namespace that stands still. */
const TRIES_MAX = 8;

/** Throws, or rejects with, what refuses it. */
export function create(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  requireLivingDefinition(type);
  const dryRun = writeOptions('CreateOptions', write.dialect.metaGroup, request.parameters);
  const decoding = ofKnownSpec(write, request, type) ?? decodedObject(write, request, kindOf(type));
  const made = ({ object, warnings, emptied, knownSpec }: SentObject): Promise<WriteReply> => {
    const created = createObject(write, request, type, object, { dryRun, isTracked: true, emptied, knownSpec });
    return warnings.length === 0 ? created : created.then((reply) => withWarnings(reply, warnings));
  };
  return decoding instanceof Promise ? decoding.then(made) : made(decoding);
}

/** As it was sent, and what is known of it. */
interface SentObject extends DecodedObject {
  readonly knownSpec?: KnownSpec;
}

const NO_WARNINGS: readonly string[] = [];

/** The pod of a body whose spec is known; undefined where that takes decoding it. */
function ofKnownSpec(write: WriteContext, request: WriteRequest, type: KnownType): SentObject | undefined {
  const kind = write.kinds.of(type);
  const found = knownBodyOf(write, request, kind);
  if (found === undefined) return undefined;
  const { known, head } = found;
  const metadata = canonicalMetadata(metadataAlone(head, kindOf(type)), kind);
  if (metadata === undefined) return undefined;
  const object = { kind: type.kind, apiVersion: type.apiVersion, metadata, spec: known.given };
  return { object, warnings: NO_WARNINGS, emptied: known.emptied, knownSpec: known };
}

/** How an object is created. */
export interface Creation {
  readonly dryRun: boolean;
  /** Its creator owns its fields; false where the object says itself who does. */
  readonly isTracked: boolean;
  /** As `DecodedObject.emptied`. */
  readonly emptied?: readonly string[] | undefined;
  /** Of a pod, where anything is. */
  readonly knownSpec?: KnownSpec | undefined;
}

/**
 * Stores a decoded object under the path's namespace and name (empty: the object's own, or a generated one). Throws, or rejects
 * with, what refuses it.
 */
export function createObject(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
  given: JsonObject,
  { dryRun, isTracked, emptied, knownSpec }: Creation,
): Promise<WriteReply> {
  const attributes = attributesOf(write, request, type, {
    operation: 'create',
    subresource: '',
    dryRun,
    isTracked,
    emptied,
  });
  attributes.knownSpec = knownSpec;
  const isGenerated = request.target.name === '' && (metadataOf(given).name ?? '') === '';
  const decide = (): Soon<Attempt<WriteReply>> =>
    dryRun ? dryAnswer(write, attributes) : commitment(write, attributes, isGenerated);
  const attempt = (tries: number): Soon<Attempt<WriteReply>> => {
    attributes.begin(tries, timestampOf(write.context.clock.nowMs()), undefined, given);
    const waiting = takeSteps(CREATE_STEPS, attributes, write);
    return waiting === undefined ? decide() : waiting.then(decide);
  };
  return untilCommitted(
    write,
    TRIES_MAX,
    attempt,
    () =>
      isGenerated
        ? serverTimeout('POST', type, 0)
        : conflict(type, metadataOf(given).name ?? '', 'its namespace kept changing, try again'),
    attributes,
  );
}

/** Whatever is wrong with an object: of a type that ends there will be no more. Throws 405. */
export function requireLivingDefinition({ custom, group, plural }: KnownType): void {
  if (custom?.definition.isTerminating === true) throw new StatusError(definitionTerminating(group, plural));
}

function commitment(write: WriteContext, attributes: Attributes, isGenerated: boolean): Soon<Attempt<WriteReply>> {
  const { type, object } = attributes;
  const stored = converted(write, type, (forms) => forms.stored(type, object));
  return whenThere(stored, (found) => commitmentTo(write, attributes, found, isGenerated));
}

function commitmentTo(
  write: WriteContext,
  attributes: Attributes,
  stored: JsonObject,
  isGenerated: boolean,
): Attempt<WriteReply> {
  const { type, managedFieldsText, guards, also, warnings } = attributes;
  const completedBy = write.completion.generation;
  const put = draftPut(type, stored, EXPECT_ABSENT, { completedBy, managedFieldsText, texts: attributes.texts });
  requireSize(put);
  return {
    draft: withAlso(put, also, guards),
    committed: (place) => withWarnings({ code: 201, place }, warnings),
    lost: async ({ reason, key, why }: Refusal) => {
      if (reason !== 'exists' || key !== put.key || isGenerated) return;
      // What is there cannot be read: nothing but the name is known of it.
      if (why !== undefined) throw new StatusError(alreadyExists(type, metadataOf(stored).name ?? '', false));
      await refuseTaken(write, attributes);
    },
  };
}

async function dryAnswer(write: WriteContext, attributes: Attributes): Promise<Attempt<WriteReply>> {
  const { type, object, managedFieldsText, warnings } = attributes;
  await refuseTaken(write, attributes);
  const made = withManagedFields(await asReadBack(write, type, object), managedFieldsText);
  return { answer: withWarnings({ code: 201, body: asAnswer(type, made) }, warnings) };
}

/** Throws 409 where the name is taken, and says so if that is on its way out. */
async function refuseTaken(write: WriteContext, { type, object, asked }: Attributes): Promise<void> {
  const { name = '' } = metadataOf(object);
  const place = await findPlace(write, type, asked.namespace, name);
  if (place === null) return;
  const { deletionTimestamp } = metadataOf(decodePlace(write, place));
  throw new StatusError(alreadyExists(type, name, Boolean(deletionTimestamp)));
}
