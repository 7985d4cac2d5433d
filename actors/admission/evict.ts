// The eviction subresource of pods: a DELETE that a disruption budget can refuse. The budget's status and the pod change in
// one transaction, so that no disruption is counted without its pod, and none is taken twice.

import { storedKind } from '../../api/conversion/stored-form.ts';
import { requirePreconditions } from '../../api/deletion.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { asObject } from '../../api/object-fields.ts';
import { metadataOf, timestampOf } from '../../api/object-meta.ts';
import { disrupted, isGuarded, selectsPod } from '../../api/pods/disruption.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { badRequest, notFound, timeout, unnamedError } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { created } from '../../api/status/successes.ts';
import { type DeleteOptions, isDryRun } from '../../api/validation/options.ts';
import { commitOne } from './commit.ts';
import { draftFor, outcomeFor } from './deletion-outcome.ts';
import { type Draft, draftPut, withAlso } from './draft.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { decodeObject, requireDeleteOptions, toDeleteOptions, writeOptions } from './request-body.ts';
import { readCurrent, type StoredObject } from './store-reader.ts';
import { readList } from './stored-list.ts';
import type { WriteContext } from './write-context.ts';

/** An eviction that loses a race is made again this often. */
const TRIES_MAX = 32;
const RETRY_SECONDS = 10;
const NO_BUDGET: readonly Draft[] = [];

/** POST pods/<name>/eviction. Throws 400, 404, 409, 429, and 500 for a pod with more than one budget. */
export async function evict(write: WriteContext, request: WriteRequest, pods: KnownType): Promise<WriteReply> {
  const asked = writeOptions('CreateOptions', write.dialect.metaGroup, request.parameters);
  const { object: body, warnings } = decodeObject(write.schema, request, {
    apiVersion: 'policy/v1beta1',
    kind: 'Eviction',
  });
  const { namespace, name } = request.target;
  const { name: given = '' } = metadataOf(body);
  if (given !== '' && given !== name)
    throw new StatusError(badRequest(`the name of the eviction (${given}) differs from the pod's (${name})`));
  const options = optionsOf(write, body, asked);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stored = await readCurrent(write, pods, namespace, name);
    if (stored === null) throw new StatusError(notFound(pods, name));
    requirePreconditions(stored.object, pods, options.preconditions ?? {});
    const budget = isGuarded(stored.object) ? await chargedBudget(write, stored.object, namespace) : NO_BUDGET;
    const outcome = outcomeFor(write, pods, stored.object, options);
    if (isDryRun(options) || outcome.action === 'pending') return { code: 201, body: created(), warnings };
    const draft = await draftFor(write, pods, stored, outcome);
    const result = await commitOne(write, withAlso(draft, [...(draft.also ?? []), ...budget]));
    if (result.ok) return { code: 201, body: created(), warnings };
  }
  throw new StatusError(timeout(`pod ${name} and its disruption budget kept changing`, RETRY_SECONDS));
}

/** The options of the deletion; a dry run that the query asks for must not be denied by the body. */
function optionsOf(write: WriteContext, body: JsonObject, dryRunAsked: boolean): DeleteOptions {
  const options = toDeleteOptions(write.schema, asObject(body.deleteOptions), {});
  requireDeleteOptions(options, write.dialect.metaGroup);
  if (!dryRunAsked || isDryRun(options)) return options;
  if ((options.dryRun?.length ?? 0) > 0)
    throw new StatusError(badRequest('dryRun of the query differs from that of the deleteOptions'));
  return { ...options, dryRun: ['All'] };
}

const BUDGET = { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' };

/** What the budget of a pod becomes; nothing when there is none, or when it loses nothing. */
async function chargedBudget(write: WriteContext, pod: JsonObject, namespace: string): Promise<readonly Draft[]> {
  const type = write.registry.storageType('policy/poddisruptionbudgets');
  if (type === undefined) return NO_BUDGET;
  // An empty selector means one thing in v1 and another in v1beta1, whichever is stored.
  const inV1 = write.forms.between(storedKind(type), BUDGET);
  const budgets = (await readList(write, type, namespace)).map((stored) => ({
    ...stored,
    object: inV1(stored.object),
  }));
  const [stored, another] = budgets.filter(({ object }): boolean => selectsPod(object, pod)) as readonly StoredObject[];
  if (stored === undefined) return NO_BUDGET;
  if (another !== undefined)
    throw new StatusError(unnamedError('the pod has more than one disruption budget, which eviction cannot weigh'));
  const next = disrupted(stored.object, pod, timestampOf(write.context.clock.nowMs()));
  if (next === undefined) return NO_BUDGET;
  return [draftPut(type, write.forms.between(BUDGET, storedKind(type))(next), stored.place.revision)];
}
