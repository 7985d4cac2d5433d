// What feature gates about pods change in what is written.
import test from 'ava';
import { AdmissionWorld, refusal } from './admission-world.ts';

const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const APP_ARMOR = 'container.apparmor.security.beta.orch.io/c';
const PROFILE = { [APP_ARMOR]: 'runtime/default', other: 'kept' };

const pod = (name: string, container: object = {}, annotations?: object) => ({
  metadata: { name, ...(annotations && { annotations }) },
  spec: { containers: [{ name: 'c', image: 'i', ...container }] },
});

const deployment = (name: string, annotations: object) => ({
  metadata: { name, annotations },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { ...pod('', {}, annotations), metadata: { labels: { app: 'a' }, annotations } },
  },
});

test('AppArmor annotations are kept, and without their gate they are not, but for objects that use them', async (t) => {
  const open = await AdmissionWorld.start();
  t.deepEqual((await open.created(PODS, pod('p', {}, PROFILE))).metadata.annotations, PROFILE);
  await open.stop();
  const closed = await AdmissionWorld.start({ featureGates: 'AppArmor=false' });
  t.deepEqual((await closed.created(PODS, pod('p', {}, PROFILE))).metadata.annotations, { other: 'kept' });
  const made = await closed.created(DEPLOYMENTS, deployment('d', PROFILE));
  t.deepEqual(made.metadata.annotations, PROFILE);
  const { template } = made.spec as { template: { metadata: { annotations: object } } };
  t.deepEqual(template.metadata.annotations, { other: 'kept' });
  await closed.stop();
});

const shows = (resource: string, divisor?: string) => ({
  env: [{ name: 'E', valueFrom: { resourceFieldRef: { resource, ...(divisor && { divisor }) } } }],
});

test('a container may be shown its huge pages where the gate is open', async (t) => {
  const closed = await AdmissionWorld.start();
  const refused = await closed.write('create', PODS, { body: pod('p', shows('limits.hugepages-2Mi')) });
  t.is(refused.code, 422);
  t.deepEqual(
    refusal(refused).details?.causes?.map(({ field, reason }) => [field, reason]),
    [['spec.containers[0].env[0].valueFrom.resourceFieldRef.resource', 'FieldValueNotSupported']],
  );
  await closed.stop();
  const open = await AdmissionWorld.start({ featureGates: 'DownwardAPIHugePages=true' });
  await open.created(PODS, pod('p', shows('requests.hugepages-2Mi', '1Mi')));
  t.is((await open.write('create', PODS, { body: pod('q', shows('requests.hugepages-2Mi', '1m')) })).code, 422);
  t.is((await open.write('create', PODS, { body: pod('q', shows('requests.huge-2Mi')) })).code, 422);
  await open.stop();
});

test('the containers of a pod may use huge pages of several sizes, unless the gate is closed', async (t) => {
  const pages = { 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi' };
  const resources = { limits: { cpu: '1', ...pages }, requests: { cpu: '1', ...pages } };
  const open = await AdmissionWorld.start();
  await open.created(PODS, pod('p', { resources }));
  await open.stop();
  const closed = await AdmissionWorld.start({ featureGates: 'HugePageStorageMediumSize=false' });
  const refused = await closed.write('create', PODS, { body: pod('p', { resources }) });
  t.is(refused.code, 422);
  t.true(refused.body.message.includes('must use a single hugepage size in a pod spec'));
  await closed.stop();
});
