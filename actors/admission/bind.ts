// Bindings of pods to nodes: many at a time from the scheduler, one at a time through the binding subresource. Each pod
// is its own transaction against the revision that was read.
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf, timestampOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { badRequest, conflict, conflictModified, notFound } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { created } from '../../api/status/successes.ts';
import { commitEach } from './commit.ts';
import { type Draft, draftPut } from './draft.ts';
import type { Binding, BindingOutcome, WriteReply, WriteRequest } from './protocol.ts';
import { decodeObject, writeOptions } from './request-body.ts';
import { decodePlace, findPlace, readCurrent } from './store-reader.ts';
import type { WriteContext } from './write-context.ts';

const BOUND: BindingOutcome = { bound: true };
/** A binding that loses a race is made again this often. */
const TRIES_MAX = 32;
/** What conflicts name. */
const BINDING = { group: '', plural: 'pods/binding' };

/** Binds each pod that may still be bound. Outcomes in the same order. */
export async function bind(write: WriteContext, bindings: readonly Binding[]): Promise<BindingOutcome[]> {
  const pods = podType(write);
  const outcomes: BindingOutcome[] = new Array<BindingOutcome>(bindings.length).fill(BOUND);
  const drafts: Draft[] = [];
  const draftOf: number[] = [];
  await Promise.all(
    bindings.map(async (binding, index) => {
      const place = await findPlace(write, pods, binding.namespace, binding.name);
      const pod = place === null ? undefined : decodePlace(write, place);
      const refusal = refusalOf(binding, pod);
      if (refusal !== undefined || pod === undefined || place === null) {
        outcomes[index] = refusal ?? BOUND;
        return;
      }
      drafts.push(draftPut(pods, boundPod(pod, binding, timestampOf(write.context.clock.nowMs())), place.revision));
      draftOf.push(index);
    }),
  );
  if (drafts.length === 0) return outcomes;
  const results = await commitEach(write, drafts);
  results.forEach((result, at) => {
    if (result.ok) return;
    outcomes[draftOf[at]!] =
      result.reason === 'missing'
        ? { bound: false, reason: 'gone', message: 'the pod was deleted' }
        : { bound: false, reason: 'failed', message: 'the pod changed while it was being bound' };
  });
  return outcomes;
}

/** POST pods/<name>/binding, and POST bindings. */
export async function createBinding(write: WriteContext, request: WriteRequest): Promise<WriteReply> {
  const dryRun = writeOptions('CreateOptions', write.dialect.metaGroup, request.parameters);
  const { object: body } = decodeObject(write.schema, request, { apiVersion: 'v1', kind: 'Binding' });
  const metadata = metadataOf(body);
  const name = request.target.name === '' ? (metadata.name ?? '') : request.target.name;
  if (metadata.name !== undefined && metadata.name !== '' && metadata.name !== name) {
    throw new StatusError(badRequest(`the name of the binding (${metadata.name}) differs from the pod's (${name})`));
  }
  const target = body.target as { kind?: string; name?: string } | undefined;
  const node = target?.name ?? '';
  if (node === '' || (target?.kind !== undefined && target.kind !== '' && target.kind !== 'Node')) {
    throw new StatusError(badRequest('target must name a Node'));
  }
  const { namespace } = request.target;
  const { uid = '', annotations } = metadata;
  const binding: Binding = { namespace, name, uid, node, ...(annotations === undefined ? undefined : { annotations }) };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const outcome = dryRun ? await wouldBind(write, binding) : (await bind(write, [binding]))[0]!;
    if (outcome.bound) return { code: 201, body: created() };
    if (outcome.reason === 'gone') throw new StatusError(notFound(podType(write), name));
    if (outcome.reason === 'taken') throw new StatusError(conflict(BINDING, name, outcome.message));
  }
  throw new StatusError(conflictModified(BINDING, name));
}

/** What binding would come to now. */
async function wouldBind(write: WriteContext, binding: Binding): Promise<BindingOutcome> {
  const stored = await readCurrent(write, podType(write), binding.namespace, binding.name);
  return refusalOf(binding, stored?.object) ?? BOUND;
}

function refusalOf(binding: Binding, pod: JsonObject | undefined): BindingOutcome | undefined {
  if (pod === undefined) return { bound: false, reason: 'gone', message: 'there is no such pod' };
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
