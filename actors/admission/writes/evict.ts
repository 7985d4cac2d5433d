// The eviction subresource of pods: a DELETE that a disruption budget can refuse. The budget's status and the pod change in
// one transaction, so that no disruption is counted without its pod, and none is taken twice.

import { storedKind } from '../../../api/catalog/stored-form.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import { requirePreconditions } from '../../../api/metadata/deletion.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import { disrupted, isGuarded, selectsPod } from '../../../api/pods/disruption.ts';
import { type DeleteOptions, isDryRun } from '../../../api/requests/request-options.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { badRequest, notFound, timeout, unnamedError } from '../../../api/status/failures.ts';
import { type Status, StatusError } from '../../../api/status/status.ts';
import { created } from '../../../api/status/successes.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { decodeObject, requireDeleteOptions, toDeleteOptions, writeOptions } from '../bodies/request-body.ts';
import { type Draft, draftPut, withAlso } from '../commits/draft.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { pluginStepsAround, takeSteps } from '../steps/steps.ts';
import { readCurrent } from '../stored/store-reader.ts';
import { readList } from '../stored/stored-list.ts';
import type { WriteContext } from '../write-context.ts';
import { type Attempt, TRIES_MAX, untilCommitted } from './attempts.ts';
import { draftFor, outcomeFor } from './deletion-outcome.ts';
import { attributesOf } from './request-attributes.ts';

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
  // Plugins are asked about what is wrong with it, too.
  const isDry = asked || isDryRun(givenOptions(write, body));
  const attributes = attributesOf(write, request, pods, { operation: 'create', dryRun: isDry });
  const answer = (): WriteReply => withWarnings({ code: 201, body: created(), warnings }, attributes.warnings);
  const attempt = async (tries: number): Promise<Attempt<WriteReply>> => {
    const nowIso = timestampOf(write.context.clock.nowMs());
    attributes.begin(tries, nowIso, undefined, body);
    const check = (): void => void optionsOf(write, attributes.object, name, asked);
    await takeSteps(pluginStepsAround(check), attributes, write);
    const options = optionsOf(write, attributes.object, name, asked);
    const stored = await readCurrent(write, pods, namespace, name);
    if (stored === null) throw new StatusError(notFound(pods, name));
    requirePreconditions(stored.object, pods, options.preconditions ?? {});
    const budget = isGuarded(stored.object) ? await chargedBudget(write, stored.object, namespace, nowIso) : NO_BUDGET;
    const outcome = outcomeFor(write, pods, stored, options);
    if (isDry || isDryRun(options) || outcome.action === 'pending') return { answer: answer() };
    const draft = await draftFor(write, pods, stored, outcome);
    return {
      draft: withAlso(withAlso(draft, budget), attributes.also, attributes.guards),
      committed: answer,
    };
  };
  const gaveUp = (): Status => timeout(`pod ${name} and its disruption budget kept changing`, RETRY_SECONDS);
  return untilCommitted(write, TRIES_MAX, attempt, gaveUp, attributes);
}

/** The options of the deletion. Throws 400 for another pod's, and for a body that denies the dry run that the query asks for. */
function optionsOf(write: WriteContext, body: JsonObject, name: string, dryRunAsked: boolean): DeleteOptions {
  if (metadataOf(body).name !== name)
    throw new StatusError(badRequest('name in URL does not match name in Eviction object'));
  const options = givenOptions(write, body);
  requireDeleteOptions(options, write.dialect.metaGroup);
  if (!dryRunAsked || isDryRun(options)) return options;
  if ((options.dryRun?.length ?? 0) > 0)
    throw new StatusError(badRequest('dryRun of the query differs from that of the deleteOptions'));
  return { ...options, dryRun: ['All'] };
}

function givenOptions({ schema }: WriteContext, { deleteOptions }: JsonObject): DeleteOptions {
  return toDeleteOptions(schema, asObject(deleteOptions), {});
}

const BUDGET = { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' };

/** What the budget of a pod becomes; nothing when there is none, or when it loses nothing. */
async function chargedBudget(
  write: WriteContext,
  pod: JsonObject,
  namespace: string,
  nowIso: string,
): Promise<readonly Draft[]> {
  const type = write.registry.storageType('policy/poddisruptionbudgets');
  if (type === undefined) return NO_BUDGET;
  // An empty selector means one thing in v1 and another in v1beta1, whichever is stored.
  const inV1 = write.forms.between(storedKind(type), BUDGET);
  const budgets = (await readList(write, type, namespace)).map(({ object, place }) => ({
    object: inV1(object),
    place,
  }));
  const [stored, another] = budgets.filter(({ object }): boolean => selectsPod(object, pod));
  if (stored === undefined) return NO_BUDGET;
  if (another !== undefined)
    throw new StatusError(
      unnamedError('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'),
    );
  const next = disrupted(stored.object, pod, nowIso);
  if (next === undefined) return NO_BUDGET;
  return [draftPut(type, write.forms.between(BUDGET, storedKind(type))(next), stored.place.revision)];
}
