import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { BudgetObjects } from '../../../actors/scheduler/objects/budget-objects.ts';
import { readPod } from '../../../actors/scheduler/pods/pod-info.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { disrupted } from '../../../api/pods/disruption.ts';
import { isStatusError } from '../../../api/status/status.ts';
import { pod as schedulersPod } from '../scheduler/objects.ts';
import { AdmissionWorld, type Answer, refusal } from './admission-world.ts';

const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

interface BudgetStatus {
  readonly disruptionsAllowed?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

async function pod(
  world: AdmissionWorld,
  name: string,
  status: object = READY,
  spec: object = {},
  labels: object = { app: 'web' },
): Promise<void> {
  const metadata = { name, labels };
  await world.created(PODS, { metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
  const { code } = await world.write('patch', `${PODS}/${name}/status`, { body: { status } });
  if (code !== 200) throw new Error(`the status of ${name} was refused`);
}

async function budget(
  world: AdmissionWorld,
  name: string,
  status: object,
  selector: object | null = { matchLabels: { app: 'web' } },
  budgets = BUDGETS,
) {
  await world.created(budgets, { metadata: { name }, spec: { minAvailable: 1, selector } });
  const whole = { expectedPods: 2, currentHealthy: 2, desiredHealthy: 1, observedGeneration: 1, ...status };
  const { code } = await world.write('patch', `${BUDGETS}/${name}/status`, { body: { status: whole } });
  if (code !== 200) throw new Error(`the status of ${name} was refused`);
}

const statusOf = (object: Answer | undefined): BudgetStatus => (object?.status ?? {}) as BudgetStatus;

function evict(world: AdmissionWorld, name: string, body: object = {}, parameters = {}) {
  return world.write('create', `${PODS}/${name}/eviction`, { body: { metadata: { name }, ...body }, parameters });
}

test('an eviction takes a disruption from the budget and the pod with it', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  await budget(world, 'b', { disruptionsAllowed: 1 });
  const answer = await evict(world, 'a');
  t.is(answer.code, 201);
  t.deepEqual(answer.body as unknown, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
  t.is(await world.stored(`${PODS}/a`), undefined);
  const status = statusOf(await world.stored(`${BUDGETS}/b`));
  t.is(status.disruptionsAllowed, 0);
  t.deepEqual(Object.keys(status.disruptedPods ?? {}), ['a']);
  t.deepEqual(
    status.conditions?.map(({ type, status: value, reason }) => [type, value, reason]),
    [['DisruptionAllowed', 'False', 'InsufficientPods']],
  );
  await world.stop();
});

test('an eviction that does not name its pod is refused', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  for (const metadata of [{}, { name: 'b' }]) {
    const { code, body } = await evict(world, 'a', { metadata });
    t.is(code, 400);
    t.is(body.message, 'name in URL does not match name in Eviction object');
  }
  t.truthy(await world.stored(`${PODS}/a`));
  await world.stop();
});

test('a budget that allows no disruption refuses, and says what it needs', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  await budget(world, 'b', { disruptionsAllowed: 0, currentHealthy: 1 });
  const answer = await evict(world, 'a');
  t.deepEqual(refusal(answer), {
    kind: 'Status',
    code: 429,
    reason: 'TooManyRequests',
    details: {
      causes: [
        {
          reason: 'DisruptionBudget',
          message: 'The disruption budget b needs 1 healthy pods and has 1 currently',
        },
      ],
    },
  });
  t.is(answer.body.message, "Cannot evict pod as it would violate the pod's disruption budget.");
  t.truthy(await world.stored(`${PODS}/a`));
  await world.stop();
});

test('a budget that has not seen its latest change asks to come back', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  await budget(world, 'b', { disruptionsAllowed: 1, observedGeneration: 0 });
  const answer = await evict(world, 'a');
  t.is(answer.code, 429);
  t.is(answer.body.details?.retryAfterSeconds, 10);
  const [cause] = answer.body.details?.causes ?? [];
  t.deepEqual(
    [cause?.reason, cause?.message],
    ['DisruptionBudget', 'The disruption budget b is still being processed by the server.'],
  );
  await world.stop();
});

test('a budget that counts below nothing, or remembers too many evictions, lets no pod go', (t) => {
  const metadata = { name: 'b' };
  const refusedBy = (status: object): unknown => {
    try {
      disrupted({ metadata, status } as never, { metadata: { name: 'a' }, status: READY } as never, 'now');
      return undefined;
    } catch (error) {
      return isStatusError(error) ? [error.status.code, error.status.message] : error;
    }
  };
  const remembered = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, '2026-01-01T00:00:00Z']));
  const forbidden = (why: string): unknown => [403, `poddisruptionbudget.policy "b" is forbidden: ${why}`];
  t.deepEqual(refusedBy({ disruptionsAllowed: -1 }), forbidden('pdb disruptions allowed is negative'));
  t.deepEqual(
    refusedBy({ disruptionsAllowed: 1, disruptedPods: remembered(2001) }),
    forbidden('DisruptedPods map too big - too many evictions not confirmed by PDB controller'),
  );
  t.is(refusedBy({ disruptionsAllowed: 1, disruptedPods: remembered(2000) }), undefined);
});

test('a pod with two budgets is not evicted', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  await budget(world, 'b', { disruptionsAllowed: 1 });
  await budget(world, 'c', { disruptionsAllowed: 1 });
  const { code, body } = await evict(world, 'a');
  t.deepEqual(
    [code, body.message],
    [500, 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'],
  );
  t.is(statusOf(await world.stored(`${BUDGETS}/b`)).disruptionsAllowed, 1);
  await world.stop();
});

const UNGUARDED: readonly (readonly [what: string, status: object])[] = [
  ['that has not begun', { phase: 'Pending' }],
  ['that has ended', { phase: 'Succeeded' }],
  ['that has failed', { phase: 'Failed' }],
  ['that is not ready while enough others are', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }],
];
for (const [what, status] of UNGUARDED) {
  test(`a pod ${what} is evicted without asking the budget`, async (t) => {
    const world = await AdmissionWorld.start();
    await pod(world, 'a', status);
    await budget(world, 'b', { disruptionsAllowed: 0 });
    t.is((await evict(world, 'a')).code, 201);
    t.is(await world.stored(`${PODS}/a`), undefined);
    t.is(statusOf(await world.stored(`${BUDGETS}/b`)).disruptedPods, undefined);
    await world.stop();
  });
}

const OTHERS = { matchLabels: { app: 'db' } };
const SELECTIONS: readonly (readonly [selector: object | null, version: string, guards: boolean])[] = [
  [{}, 'v1', true],
  [{}, 'v1beta1', false],
  [null, 'v1', false],
  [null, 'v1beta1', false],
  [OTHERS, 'v1', false],
  [OTHERS, 'v1beta1', false],
];
for (const [selector, version, guards] of SELECTIONS)
  for (const labels of [{ app: 'web' }, {}]) {
    const which = `${'app' in labels ? '' : 'without labels '}is ${guards ? '' : 'not '}guarded`;
    test(`a pod ${which} by a budget in ${version} whose selector is ${JSON.stringify(selector)}, from eviction and the scheduler alike`, async (t) => {
      const world = await AdmissionWorld.start();
      await pod(world, 'a', READY, {}, labels);
      await budget(world, 'b', { disruptionsAllowed: 0 }, selector, BUDGETS.replace('v1', version));
      const seen = new BudgetObjects();
      seen.set('default', 'b', (await world.stored(`${BUDGETS}/b`))!);
      t.is(seen.guarding(readPod(schedulersPod('a', { metadata: { labels } }))).length, guards ? 1 : 0);
      t.is((await evict(world, 'a')).code, guards ? 429 : 201);
      await world.stop();
    });
  }

test('the budget is asked again when it changed meanwhile, and never charged without the pod', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  await budget(world, 'b', { disruptionsAllowed: 2 });
  const taken = (allowed: number) => {
    world.gate.beforeCommit = () =>
      world.soon('patch', `${BUDGETS}/b/status`, { body: { status: { disruptionsAllowed: allowed } } });
  };
  taken(1);
  t.is((await evict(world, 'a')).code, 201);
  t.is(statusOf(await world.stored(`${BUDGETS}/b`)).disruptionsAllowed, 0);
  await pod(world, 'c');
  await world.write('patch', `${BUDGETS}/b/status`, { body: { status: { disruptionsAllowed: 1 } } });
  taken(0);
  t.is((await evict(world, 'c')).code, 429);
  t.truthy(await world.stored(`${PODS}/c`));
  const { disruptedPods } = statusOf(await world.stored(`${BUDGETS}/b`));
  t.deepEqual(Object.keys(disruptedPods ?? {}), ['a']);
  await world.stop();
});

test('a bound pod is given the grace period that the eviction names', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a', READY, { nodeName: 'n' });
  await budget(world, 'b', { disruptionsAllowed: 1 });
  t.is((await evict(world, 'a', { deleteOptions: { gracePeriodSeconds: 7 } })).code, 201);
  t.is((await world.stored(`${PODS}/a`))?.metadata.deletionGracePeriodSeconds, 7);
  // On its way out it disrupts nothing more.
  t.is((await evict(world, 'a')).code, 201);
  t.is(statusOf(await world.stored(`${BUDGETS}/b`)).disruptionsAllowed, 0);
  await world.stop();
});

test('a dry run changes nothing, however it is asked for', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  await budget(world, 'b', { disruptionsAllowed: 1 });
  t.is((await evict(world, 'a', {}, { dryRun: ['All'] })).code, 201);
  t.is((await evict(world, 'a', { deleteOptions: { dryRun: ['All'] } })).code, 201);
  t.truthy(await world.stored(`${PODS}/a`));
  t.is(statusOf(await world.stored(`${BUDGETS}/b`)).disruptionsAllowed, 1);
  await world.stop();
});

test('evictions that cannot be made are refused', async (t) => {
  const world = await AdmissionWorld.start();
  await pod(world, 'a');
  const cases: readonly (readonly [what: string, name: string, body: object, parameters: object, code: number])[] = [
    ['no such pod', 'none', {}, {}, 404],
    ['another name', 'a', { metadata: { name: 'b' } }, {}, 400],
    ['another uid', 'a', { deleteOptions: { preconditions: { uid: 'x' } } }, {}, 409],
    ['another version', 'a', { deleteOptions: { preconditions: { resourceVersion: '1' } } }, {}, 409],
    ['another kind', 'a', { kind: 'Pod' }, {}, 400],
    ['an unknown policy', 'a', { deleteOptions: { propagationPolicy: 'x' } }, {}, 422],
    ['a dry run of another kind', 'a', { deleteOptions: { dryRun: ['Some'] } }, {}, 422],
    ['dry runs that differ', 'a', { deleteOptions: { dryRun: [''] } }, { dryRun: ['All'] }, 400],
  ];
  for (const [what, name, body, parameters, code] of cases) {
    const answer = await evict(world, name, body, parameters);
    t.is(answer.code, code, `${what}: ${answer.body.message}`);
  }
  t.truthy(await world.stored(`${PODS}/a`));
  await world.stop();
});

const PRECONDITIONS: Readonly<Record<string, object>> = { known: {}, changed: { uid: 'another' } };

test('what plugins make of an eviction is what is done', async (t) => {
  const gentle: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['create'], resources: ['core/pods/eviction'] }],
    create: () => ({
      mutate: (attributes) => {
        const { name = '' } = metadataOf(attributes.object);
        const deleteOptions = { ...(name === 'dry' ? { dryRun: ['All'] } : { preconditions: PRECONDITIONS[name] }) };
        attributes.object = { ...attributes.object, deleteOptions };
      },
    }),
  };
  const world = await AdmissionWorld.start({ plugins: [gentle] });
  for (const name of ['known', 'changed', 'dry']) await pod(world, name);
  t.is((await evict(world, 'known')).code, 201);
  t.is(await world.stored(`${PODS}/known`), undefined);
  t.is((await evict(world, 'changed')).code, 409);
  t.is((await evict(world, 'dry')).code, 201);
  t.not(await world.stored(`${PODS}/dry`), undefined);
  await world.stop();
});
