// Bindings of pods to nodes: many at a time from the scheduler, one at a time through the binding subresource. Each pod
// is its own transaction against the revision that was read.

import type { User } from '../../../api/authorization/attributes.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { badRequest, conflict, conflictModified, notFound } from '../../../api/status/failures.ts';
import { type FieldError, joinedErrors, notSupported, required } from '../../../api/status/field-error.ts';
import { isStatusError, type Status, StatusError } from '../../../api/status/status.ts';
import { created } from '../../../api/status/successes.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Attributes } from '../attributes.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { decodeObject, writeOptions } from '../bodies/request-body.ts';
import { commitEach } from '../commits/commit.ts';
import { type Draft, draftPutAsStored, withAlso } from '../commits/draft.ts';
import type { Binding, BindingOutcome, WriteParameters, WriteReply, WriteRequest } from '../protocol.ts';
import { PLUGIN_STEPS, takeSteps } from '../steps/steps.ts';
import { readCurrent } from '../stored/store-reader.ts';
import type { WriteContext } from '../write-context.ts';
import { type Attempt, TRIES_MAX, untilCommitted } from './attempts.ts';
import { attributesOf } from './request-attributes.ts';

const BOUND: BindingOutcome = { bound: true };
const GONE: BindingOutcome = { bound: false, reason: 'gone', message: 'the pod was deleted' };
const CHANGED: BindingOutcome = {
  bound: false,
  reason: 'failed',
  message: 'the pod kept changing while it was being bound',
};
/** What conflicts name. */
const BINDING = { group: '', plural: 'pods/binding' };
const BINDING_KIND = { apiVersion: 'v1', kind: 'Binding' };
/** Of the scheduler's bindings, but for the pod. */
export const BINDING_TARGET = { group: '', version: 'v1', resource: 'pods', subresource: 'binding' };
const NO_PARAMETERS: WriteParameters = {};

type Refused = Extract<BindingOutcome, { readonly bound: false }>;

/** A binding under way. */
interface Begun {
  readonly binding: Binding;
  /** Of its outcome. */
  readonly index: number;
  readonly attributes: Attributes;
}

/** Binds each pod that may still be bound. Outcomes in the same order. */
export async function bind(write: WriteContext, bindings: readonly Binding[], user: User): Promise<BindingOutcome[]> {
  const pods = podType(write);
  const outcomes: BindingOutcome[] = new Array<BindingOutcome>(bindings.length).fill(BOUND);
  let left = bindings.map((binding, index): Begun => {
    const target = { ...BINDING_TARGET, namespace: binding.namespace, name: binding.name };
    const request = { target, user, userAgent: '', parameters: NO_PARAMETERS };
    return { binding, index, attributes: attributesOf(write, request, pods, { operation: 'create', dryRun: false }) };
  });
  for (let tries = 0; left.length > 0; tries++) {
    try {
      left = await bindOnce(write, left, tries, outcomes);
    } catch (error) {
      if (tries === 0) throw error;
      // What has become of the others is known.
      const message = messageOf(error);
      for (const { index } of left) outcomes[index] = { bound: false, reason: 'failed', message };
      return outcomes;
    }
  }
  return outcomes;
}

/** Answers those whose pods have changed meanwhile, in whatever way: whether they may still be bound is to be seen. */
async function bindOnce(
  write: WriteContext,
  begun: readonly Begun[],
  tries: number,
  outcomes: BindingOutcome[],
): Promise<Begun[]> {
  const drafts: Draft[] = [];
  const drafted: Begun[] = [];
  await Promise.all(
    begun.map(async (one) => {
      const draft = await draftOrRefusal(write, one.attributes, one.binding, tries).catch(asOutcome);
      if ('bound' in draft) outcomes[one.index] = draft;
      else {
        drafts.push(draft);
        drafted.push(one);
      }
    }),
  );
  if (drafts.length === 0) return [];
  const again: Begun[] = [];
  const results = await commitEach(write, drafts);
  results.forEach((result, at) => {
    if (result.ok) return;
    const one = drafted[at]!;
    if (result.reason === 'missing') outcomes[one.index] = GONE;
    else if (result.reason !== 'unreadable' && tries + 1 < TRIES_MAX) again.push(one);
    else outcomes[one.index] = CHANGED;
  });
  return again;
}

/** POST pods/<name>/binding, and POST bindings. */
export async function createBinding(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const dryRun = writeOptions('CreateOptions', write.dialect.metaGroup, request.parameters);
  const { object: body, warnings } = decodeObject(write.schema, request, BINDING_KIND);
  const binding = bindingOf(body, request.target);
  const attributes = attributesOf(write, request, type, { operation: 'create', dryRun });
  const answer = (): WriteReply => withWarnings({ code: 201, body: created(), warnings }, attributes.warnings);
  const attempt = async (tries: number): Promise<Attempt<WriteReply>> => {
    const drafted = await draftOrRefusal(write, attributes, binding, tries);
    if ('bound' in drafted) throw new StatusError(bindingStatus(write, binding, drafted));
    return dryRun ? { answer: answer() } : { draft: drafted, committed: answer };
  };
  return untilCommitted(write, TRIES_MAX, attempt, () => conflictModified(BINDING, binding.name), attributes);
}

/** What a body asks for. Throws 400. */
function bindingOf(body: JsonObject, path: Pick<WriteRequest['target'], 'namespace' | 'name'>): Binding {
  const { name: given = '', uid = '', annotations } = metadataOf(body);
  const name = path.name === '' ? given : path.name;
  if (given !== name) throw new StatusError(badRequest('name in URL does not match name in Binding object'));
  const { kind = '', name: node = '' } = (body.target ?? {}) as { readonly kind?: string; readonly name?: string };
  const errors: FieldError[] = [];
  if (kind !== '' && kind !== 'Node') errors.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  if (node === '') errors.push(required('target.name'));
  if (errors.length > 0) throw new StatusError(badRequest(joinedErrors(errors)));
  if (name === '') throw new StatusError(badRequest('Name parameter required.'));
  return { namespace: path.namespace, name, uid, node, ...(annotations === undefined ? undefined : { annotations }) };
}

/** The bound pod against the revision that was read, or why it may not be bound. Throws what plugins refuse it with. */
async function draftOrRefusal(
  write: WriteContext,
  attributes: Attributes,
  binding: Binding,
  tries: number,
): Promise<Draft | Refused> {
  const nowIso = timestampOf(write.context.clock.nowMs());
  attributes.begin(tries, nowIso, undefined, bodyOfBinding(binding));
  const shown = attributes.object;
  await takeSteps(PLUGIN_STEPS, attributes, write);
  // Plugins may have changed it, but for the pod that it is about.
  const admitted = attributes.object === shown ? binding : bindingOf(attributes.object, binding);
  const pods = podType(write);
  const stored = await readCurrent(write, pods, admitted.namespace, admitted.name);
  if (stored === null) return { bound: false, reason: 'gone', message: 'there is no such pod' };
  const pod = stored.object;
  const refused = refusalOf(admitted, pod);
  if (refused !== undefined) return refused;
  return withAlso(draftPutAsStored(pods, boundPod(pod, admitted, nowIso), stored), attributes.also, attributes.guards);
}

/** A binding as plugins see it. */
export function bodyOfBinding({ namespace, name, uid, node, annotations }: Binding): JsonObject {
  const metadata = { name, namespace, ...(uid === '' ? undefined : { uid }), ...(annotations && { annotations }) };
  return { ...BINDING_KIND, metadata, target: { kind: 'Node', name: node } };
}

/** What a client is told of a binding that was refused. */
export function bindingStatus(write: WriteContext, { name }: Binding, { reason, message }: Refused): Status {
  return reason === 'gone' ? notFound(podType(write), name) : conflict(BINDING, name, message);
}

/** What the scheduler hears of a refusal. */
function asOutcome(error: unknown): Refused {
  if (!isStatusError(error)) throw error;
  const { status } = error;
  return { bound: false, reason: 'failed', message: status.message ?? '', status };
}

function refusalOf(binding: Binding, pod: JsonObject): Refused | undefined {
  const { uid, deletionTimestamp } = metadataOf(pod);
  if (binding.uid !== '' && binding.uid !== uid)
    return { bound: false, reason: 'gone', message: 'the pod was deleted and created anew' };
  if (deletionTimestamp)
    return {
      bound: false,
      reason: 'taken',
      message: `pod ${binding.name} is being deleted, cannot be assigned to a host`,
    };
  const { nodeName = '' } = (pod.spec ?? {}) as { nodeName?: string };
  if (nodeName !== '')
    return { bound: false, reason: 'taken', message: `pod ${binding.name} is already assigned to node "${nodeName}"` };
  return undefined;
}

function boundPod(pod: JsonObject, { node, annotations }: Binding, nowIso: string): JsonObject {
  const status = (pod.status ?? {}) as { conditions?: readonly { type?: string }[] };
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: nowIso };
  const metadata = metadataOf(pod);
  return {
    ...pod,
    ...(annotations === undefined
      ? undefined
      : { metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }),
    spec: { ...(pod.spec as JsonObject | undefined), nodeName: node },
    status: { ...status, conditions: [...others, scheduled] },
  };
}

function podType(write: WriteContext): KnownType {
  const type = write.registry.storageType('core/pods');
  if (type === undefined) throw new Error('the registry has no pods');
  return type;
}
