// DELETE: grace periods, finalizers of garbage collection, preconditions.
import test from 'ava';
import type { JsonObject } from '../../../api/json/json-value.ts';
import {
  type Deletion,
  type DeletionOutcome,
  isReadyToRemove,
  prepareDelete,
  requirePreconditions,
} from '../../../api/metadata/deletion.ts';
import { metadataOf, type ObjectMeta } from '../../../api/metadata/object-meta.ts';
import { StatusError } from '../../../api/status/status.ts';
import { frozen, sampleType } from './sample-type.ts';

const type = sampleType();
const orphaning = sampleType({}, { defaultPropagation: 'Orphan' });
const ownerless = sampleType({}, { defaultPropagation: 'Unsupported' });
const nowMs = Date.UTC(2026, 10, 20, 12);
const NOW = '2026-11-20T12:00:00Z';

const plain: Deletion = {
  nowMs,
  graceSeconds: undefined,
  graceAskedSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  collectsGarbage: true,
};

function object(metadata: ObjectMeta): JsonObject {
  return frozen({ kind: 'Deployment', metadata: { name: 'web', ...metadata }, spec: {} });
}

interface Case {
  readonly does: string;
  readonly before: ObjectMeta;
  readonly deletion?: Partial<Deletion>;
  readonly type?: typeof type;
  readonly action: DeletionOutcome['action'];
  /** The metadata to be stored, but for the name. */
  readonly after?: ObjectMeta;
}

const marked = { deletionTimestamp: NOW, deletionGracePeriodSeconds: 0 };
const dying = { deletionTimestamp: '2026-11-20T11:59:50Z', deletionGracePeriodSeconds: 30 };

const CASES: readonly Case[] = [
  { does: 'removes an object without finalizers', before: {}, action: 'remove' },
  {
    does: 'marks an object with finalizers and raises its generation',
    before: { finalizers: ['example.com/x'], generation: 4 },
    action: 'store',
    after: { finalizers: ['example.com/x'], generation: 5, ...marked },
  },
  {
    does: 'changes nothing in an object that is marked',
    before: { finalizers: ['example.com/x'], generation: 5, ...marked },
    action: 'pending',
  },
  {
    does: 'adds the orphan finalizer when asked',
    before: {},
    deletion: { propagationPolicy: 'Orphan' },
    action: 'store',
    after: { finalizers: ['orphan'], ...marked },
  },
  {
    does: 'adds the orphan finalizer in the deprecated form',
    before: {},
    deletion: { orphanDependents: true },
    action: 'store',
    after: { finalizers: ['orphan'], ...marked },
  },
  {
    does: 'adds the foreground finalizer when asked',
    before: { finalizers: ['example.com/x', 'orphan'] },
    deletion: { propagationPolicy: 'Foreground' },
    action: 'store',
    after: { finalizers: ['example.com/x', 'foregroundDeletion'], ...marked },
  },
  {
    does: 'takes both finalizers away for background deletion',
    before: { finalizers: ['orphan'] },
    deletion: { propagationPolicy: 'Background' },
    action: 'remove',
  },
  {
    does: 'goes by the finalizer present when the policy is not said',
    before: { finalizers: ['foregroundDeletion'] },
    type: orphaning,
    action: 'store',
    after: { finalizers: ['foregroundDeletion'], ...marked },
  },
  {
    does: 'orphans by default where the type does',
    before: {},
    type: orphaning,
    action: 'store',
    after: { finalizers: ['orphan'], ...marked },
  },
  {
    does: 'deletes in the background where the type orphans but the client says otherwise',
    before: {},
    type: orphaning,
    deletion: { orphanDependents: false },
    action: 'remove',
  },
  {
    does: 'removes an object of a type that owns nothing, whatever is asked',
    before: { finalizers: ['orphan'] },
    type: ownerless,
    deletion: { propagationPolicy: 'Foreground' },
    action: 'remove',
  },
  {
    does: 'adds no finalizer that nobody would take away',
    before: {},
    type: orphaning,
    deletion: { propagationPolicy: 'Foreground', collectsGarbage: false },
    action: 'remove',
  },
  {
    does: 'leaves the finalizers of garbage collection alone when nobody collects',
    before: { finalizers: ['orphan'] },
    deletion: { propagationPolicy: 'Background', collectsGarbage: false },
    action: 'store',
    after: { finalizers: ['orphan'], ...marked },
  },
  {
    does: 'changes the policy of a deletion under way',
    before: { finalizers: ['orphan'], ...marked },
    deletion: { propagationPolicy: 'Foreground' },
    action: 'store',
    after: { finalizers: ['foregroundDeletion'], ...marked },
  },
  {
    does: 'begins a grace period',
    before: { generation: 1 },
    deletion: { graceSeconds: 30 },
    action: 'store',
    after: { generation: 2, deletionTimestamp: '2026-11-20T12:00:30Z', deletionGracePeriodSeconds: 30 },
  },
  {
    does: 'without grace marks and removes at once',
    before: {},
    deletion: { graceSeconds: 0 },
    action: 'storeAndRemove',
    after: marked,
  },
  {
    does: 'with negative grace marks and removes at once',
    before: {},
    deletion: { graceSeconds: -5 },
    action: 'storeAndRemove',
    after: marked,
  },
  {
    does: 'waits for finalizers even without grace',
    before: { finalizers: ['example.com/x'] },
    deletion: { graceSeconds: 0 },
    action: 'store',
    after: { finalizers: ['example.com/x'], ...marked },
  },
  {
    does: 'in the background removes what ends gracefully and waited for its dependents alone',
    before: { ...marked, finalizers: ['foregroundDeletion'] },
    deletion: { graceSeconds: 0, propagationPolicy: 'Background' },
    action: 'remove',
  },
  {
    does: 'in the foreground waits for dependents besides, of what ends gracefully and waits for others',
    before: { ...marked, finalizers: ['a/b'] },
    deletion: { graceSeconds: 0, propagationPolicy: 'Foreground' },
    action: 'store',
    after: { ...marked, finalizers: ['a/b', 'foregroundDeletion'] },
  },
  { does: 'leaves a grace period alone', before: dying, deletion: { graceSeconds: 30 }, action: 'pending' },
  {
    does: 'does not lengthen a grace period',
    before: dying,
    deletion: { graceSeconds: 60, graceAskedSeconds: 60 },
    action: 'pending',
  },
  {
    does: 'that asks for the grace period that runs changes nothing',
    before: dying,
    deletion: { graceSeconds: 30, graceAskedSeconds: 30 },
    action: 'pending',
  },
  {
    does: 'that asks for other finalizers leaves the time at which the deletion began',
    before: { ...marked, deletionTimestamp: '2026-11-20T11:00:00Z', finalizers: ['example.com/x'] },
    deletion: { propagationPolicy: 'Foreground' },
    action: 'store',
    after: {
      ...marked,
      deletionTimestamp: '2026-11-20T11:00:00Z',
      finalizers: ['example.com/x', 'foregroundDeletion'],
    },
  },
  {
    does: 'shortens a grace period, counted from its beginning',
    before: dying,
    deletion: { graceSeconds: 10, graceAskedSeconds: 10 },
    action: 'store',
    after: { deletionTimestamp: '2026-11-20T11:59:30Z', deletionGracePeriodSeconds: 10 },
  },
  {
    does: 'ends a grace period at once',
    before: dying,
    deletion: { graceSeconds: 0, graceAskedSeconds: 0 },
    action: 'storeAndRemove',
    after: { deletionTimestamp: '2026-11-20T11:59:20Z', deletionGracePeriodSeconds: 0 },
  },
  {
    does: 'leaves the grace period of a pod alone that has ended meanwhile',
    before: dying,
    deletion: { graceSeconds: 0, graceAskedSeconds: 30 },
    action: 'pending',
  },
  {
    does: 'shortens the grace period of a pod that has ended meanwhile to what is asked for',
    before: dying,
    deletion: { graceSeconds: 0, graceAskedSeconds: 10 },
    action: 'store',
    after: { deletionTimestamp: '2026-11-20T11:59:30Z', deletionGracePeriodSeconds: 10 },
  },
  {
    does: 'survives an absurd grace period',
    before: {},
    deletion: { graceSeconds: 1e18 },
    action: 'store',
    after: { deletionTimestamp: '9999-12-31T23:59:59Z', deletionGracePeriodSeconds: 1e18 },
  },
];

for (const { does, before, deletion, type: of = type, action, after } of CASES) {
  test(`a delete ${does}`, (t) => {
    const given = object(before);
    const outcome = prepareDelete(given, of, { ...plain, ...deletion });
    t.is(outcome.action, action);
    if (after === undefined) t.is(outcome.object, given);
    else t.deepEqual(outcome.object, { ...given, metadata: { name: 'web', ...after } });
  });
}

test('an object is ready to be removed when it is being deleted and nothing is waited for', (t) => {
  t.true(isReadyToRemove(object(marked)));
  t.true(isReadyToRemove(object({ deletionTimestamp: NOW })));
  t.false(isReadyToRemove(object({})));
  t.false(isReadyToRemove(object({ ...marked, finalizers: ['a'] })));
  t.false(isReadyToRemove(object(dying)));
});

test('preconditions that do not hold are a conflict that names the Kind and what is there', (t) => {
  const target = object({ uid: 'u-1', resourceVersion: '7' });
  t.notThrows(() => requirePreconditions(target, type, {}));
  t.notThrows(() => requirePreconditions(target, type, { uid: 'u-1', resourceVersion: '7' }));
  const changed =
    'the ResourceVersion in the precondition (8) does not match the ResourceVersion in record (7). The object might have been modified';
  const another = (uid: string): string =>
    `the UID in the precondition (${uid}) does not match the UID in record (u-1). The object might have been deleted and then recreated`;
  for (const [preconditions, mismatch] of [
    [{ uid: 'u-2' }, another('u-2')],
    [{ uid: '' }, another('')],
    [{ uid: 'u-1', resourceVersion: '8' }, changed],
  ] as const) {
    const error = t.throws(() => requirePreconditions(target, type, preconditions), { instanceOf: StatusError });
    t.is(error?.status.code, 409);
    t.is(error?.status.details?.kind, 'Deployment');
    t.is(error?.message, `Operation cannot be fulfilled on Deployment.apps "web": ${mismatch}`);
  }
});

test('preconditions of a kind that was in another group first are told by that, as what is invalid of it is', (t) => {
  const policies = {
    ...{ ...type, storageKey: 'networking.orch.io/networkpolicies', group: 'networking.orch.io' },
    ...{ plural: 'networkpolicies', kind: 'NetworkPolicy', custom: undefined },
  };
  const target = object({ uid: 'u-1', resourceVersion: '7' });
  const error = t.throws(() => requirePreconditions(target, policies as typeof type, { uid: 'u-2' }));
  t.regex(error?.message ?? '', /^Operation cannot be fulfilled on NetworkPolicy\.extensions "web": the UID/);
  const custom = { ...policies, group: 'networking.example.com', custom: {} };
  const other = t.throws(() => requirePreconditions(target, custom as typeof type, { uid: 'u-2' }));
  t.regex(other?.message ?? '', /on NetworkPolicy\.networking\.example\.com "web"/);
});

test('preconditions of namespaces and definitions are told in the words of other conflicts', (t) => {
  const target = object({ uid: 'u-1', resourceVersion: '7' });
  for (const [group, plural, named] of [
    ['', 'namespaces', 'namespaces'],
    ['apiextensions.orch.io', 'customresourcedefinitions', 'customresourcedefinitions.apiextensions.orch.io'],
  ] as const) {
    const error = t.throws(() =>
      requirePreconditions(target, { ...type, group, plural } as typeof type, { uid: 'u-2' }),
    );
    t.is(
      error?.message,
      `Operation cannot be fulfilled on ${named} "web": Precondition failed: UID in precondition: u-2, UID in object meta: u-1`,
    );
  }
});

test('as many finalizers as a body holds are looked through in time in proportion to their number', (t) => {
  const finalizers = [...Array.from({ length: 200_000 }, (_, index) => `a/${index}`), 'orphan'];
  const marked = object({ finalizers: [...finalizers.slice(-1), ...finalizers.slice(0, -1)] });
  const before = metadataOf(marked).finalizers;
  t.is(metadataOf(prepareDelete(marked, type, plain).object).finalizers, before);
  const collected = prepareDelete(marked, type, { ...plain, propagationPolicy: 'Background' });
  t.is(metadataOf(collected.object).finalizers?.length, finalizers.length - 1);
});
