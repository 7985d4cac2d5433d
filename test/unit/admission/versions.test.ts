// Writes in a version that is not the stored one: what is answered without the store's bytes, who owns what, and what a
// version does not let its clients write.
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { ManagedFieldsEntry } from '../../../api/metadata/object-meta.ts';
import { AdmissionWorld, type Answer } from './admission-world.ts';

const INGRESSES = '/apis/networking.orch.io/v1/namespaces/default/ingresses';
const OLDER_INGRESSES = '/apis/networking.orch.io/v1beta1/namespaces/default/ingresses';
const SLICES = '/apis/discovery.orch.io/v1/namespaces/default/endpointslices';
const OLDER_SLICES = '/apis/discovery.orch.io/v1beta1/namespaces/default/endpointslices';
const OLDER_CLASSES = '/apis/storage.orch.io/v1beta1/storageclasses';
const APPLY = 'application/apply-patch+yaml';
const DRY_RUN = { dryRun: ['All'] };

const OLDER = { metadata: { name: 'web' }, spec: { backend: { serviceName: 'a', servicePort: 80 } } };
const NEWER_SPEC = { defaultBackend: { service: { name: 'a', port: { number: 80 } } } };

test('an object is stored in one version, whichever it is written in', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(OLDER_INGRESSES, OLDER);
  const stored = await world.stored(`${INGRESSES}/web`);
  t.is(stored?.apiVersion, 'networking.orch.io/v1');
  t.deepEqual(stored?.spec, NEWER_SPEC);
  await world.write('patch', `${OLDER_INGRESSES}/web`, { body: { spec: { backend: { servicePort: 'http' } } } });
  t.deepEqual((await world.stored(`${INGRESSES}/web`))?.spec, {
    defaultBackend: { service: { name: 'a', port: { name: 'http' } } },
  });
  await world.stop();
});

test('answers that are no stored bytes are of the version asked for', async (t) => {
  const world = await AdmissionWorld.start();
  const dry = await world.write('create', OLDER_INGRESSES, { body: OLDER, parameters: DRY_RUN });
  t.deepEqual([dry.code, dry.body.apiVersion, dry.body.spec], [201, 'networking.orch.io/v1beta1', OLDER.spec]);
  await world.created(INGRESSES, { metadata: { name: 'web' }, spec: NEWER_SPEC });
  const body = { spec: { backend: { serviceName: 'b' } } };
  const patched = await world.write('patch', `${OLDER_INGRESSES}/web`, { body, parameters: DRY_RUN });
  t.deepEqual(patched.body.spec, { backend: { serviceName: 'b', servicePort: 80 } });
  const listed = await world.write('deletecollection', OLDER_INGRESSES, { parameters: DRY_RUN });
  t.is(listed.body.apiVersion, 'networking.orch.io/v1beta1');
  t.deepEqual(
    listed.body.items.map(({ spec }) => spec),
    [OLDER.spec],
  );
  await world.created(OLDER_CLASSES, { metadata: { name: 'fast' }, provisioner: 'p' });
  const removed = await world.write('delete', `${OLDER_CLASSES}/fast`);
  t.deepEqual([removed.body.kind, removed.body.apiVersion], ['StorageClass', 'storage.orch.io/v1beta1']);
  await world.stop();
});

test('a dry run of an update answers with what would be read back', async (t) => {
  const world = await AdmissionWorld.start();
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 };
  const metadata = { name: 'web' };
  await world.created(path, { metadata, spec: { ...spec, targetCPUUtilizationPercentage: 50 } });
  const percentOf = async (parameters: object) => {
    const { code, body } = await world.write('update', `${path}/web`, { body: { metadata, spec }, ...parameters });
    return [code, (body.spec as { targetCPUUtilizationPercentage?: number }).targetCPUUtilizationPercentage];
  };
  t.deepEqual(await percentOf({ parameters: DRY_RUN }), [200, 80]);
  await percentOf({});
  t.like((await world.stored(`${path}/web`))?.spec, { targetCPUUtilizationPercentage: 80 });
  await world.stop();
});

const managers = (object: Answer | undefined): readonly ManagedFieldsEntry[] => object?.metadata.managedFields ?? [];

test('an update in one version takes fields from those who wrote them in another', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(OLDER_INGRESSES, OLDER, { fieldManager: 'older' });
  const body = { metadata: { labels: { a: 'b' } }, spec: { defaultBackend: { service: { name: 'b' } } } };
  await world.write('patch', `${INGRESSES}/web`, { body, parameters: { fieldManager: 'newer' } });
  const entries = managers(await world.stored(`${INGRESSES}/web`));
  t.deepEqual(entries.map(({ manager, apiVersion }) => [manager, apiVersion]).sort(), [
    ['newer', 'networking.orch.io/v1'],
    ['older', 'networking.orch.io/v1beta1'],
  ]);
  const fieldsOf = (name: string) => entries.find(({ manager }) => manager === name)?.fieldsV1;
  // Of the backend, which is a whole in the older version's eyes too, only what has not changed is still the first's.
  t.deepEqual(fieldsOf('older'), { 'f:spec': { 'f:backend': { '.': {}, 'f:servicePort': {} } } });
  t.deepEqual(fieldsOf('newer'), {
    'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
    'f:spec': { 'f:defaultBackend': { 'f:service': { 'f:name': {} } } },
  });
  await world.stop();
});

test('managers of a version that is not served are forgotten, whether or not anything else changes', async (t) => {
  const world = await AdmissionWorld.start();
  const created = await world.created(INGRESSES, { metadata: { name: 'web' }, spec: NEWER_SPEC });
  const gone = {
    manager: 'gone',
    operation: 'Update',
    apiVersion: 'networking.orch.io/v0',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:old': {} } },
  };
  const metadata = { ...created.metadata, managedFields: [...managers(created), gone] };
  const path = `${INGRESSES}/web`;
  const edited = await world.write('update', path, { body: { ...created, metadata } });
  t.false(managers(edited.body).some(({ manager }) => manager === 'gone'));
  const labels = { a: 'b' };
  const changed = await world.write('update', path, { body: { ...created, metadata: { ...metadata, labels } } });
  t.deepEqual(changed.body.metadata.labels, labels);
  t.false(managers(changed.body).some(({ manager }) => manager === 'gone'));
  await world.stop();
});

test('an applier that goes on in another version keeps what it says there, and what others own', async (t) => {
  const world = await AdmissionWorld.start();
  const apply = (path: string, body: object, fieldManager: string) =>
    world.write('patch', path, { body, contentType: APPLY, parameters: { fieldManager } });
  const older = { apiVersion: 'networking.orch.io/v1beta1', kind: 'Ingress' };
  const backend = { serviceName: 'x', servicePort: 1 };
  const rules = [{ host: 'a.example', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }];
  const both = { ...older, ...OLDER, spec: { ...OLDER.spec, rules } };
  t.is((await apply(`${OLDER_INGRESSES}/web`, both, 'one')).code, 201);
  t.is((await apply(`${OLDER_INGRESSES}/web`, { ...both, spec: { rules } }, 'two')).code, 200);
  const newer = { apiVersion: 'networking.orch.io/v1', kind: 'Ingress', metadata: { name: 'web' } };
  const { code, body } = await apply(`${INGRESSES}/web`, { ...newer, spec: { ingressClassName: 'c' } }, 'one');
  t.is(code, 200);
  // The backend was its own and is given up; the rules are still the other's.
  t.is(body.spec.defaultBackend, undefined);
  t.is(body.spec.ingressClassName, 'c');
  t.like(body.spec, { rules: [{ host: 'a.example' }] });
  t.deepEqual(
    managers(body)
      .map(({ manager, apiVersion }) => [manager, apiVersion])
      .sort(),
    [
      ['one', 'networking.orch.io/v1'],
      ['two', 'networking.orch.io/v1beta1'],
    ],
  );
  await world.stop();
});

test('what an applier gives up, and an older version still says, takes nothing else with it', async (t) => {
  const world = await AdmissionWorld.start();
  const annotations = { x: '1' };
  await world.created(OLDER_INGRESSES, { ...OLDER, metadata: { name: 'web', annotations } });
  const apply = (metadata: object) =>
    world.write('patch', `${INGRESSES}/web`, {
      body: { apiVersion: 'networking.orch.io/v1', kind: 'Ingress', metadata: { name: 'web', ...metadata } },
      contentType: APPLY,
      parameters: { fieldManager: 'one' },
    });
  t.is((await apply({ annotations, labels: { a: '1', c: '1' } })).code, 200);
  await world.write('patch', `${INGRESSES}/web`, { body: { metadata: { labels: { b: '1' } } } });
  const { code, body } = await apply({ labels: { c: '1' } });
  t.is(code, 200);
  t.deepEqual(body.metadata.labels, { b: '1', c: '1' });
  t.deepEqual(body.metadata.annotations, annotations);
  await world.stop();
});

test('what both versions of an apply say stays, also where a conversion fills in for what is given up', async (t) => {
  const world = await AdmissionWorld.start();
  const target = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 };
  const cpu = (averageUtilization: number) => ({
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
  });
  const apply = (version: string, spec: object) => {
    const path = `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/web`;
    const kind = { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } };
    return world.write('patch', path, {
      body: { ...kind, spec: { ...target, ...spec } },
      contentType: APPLY,
      parameters: { fieldManager: 'one' },
    });
  };
  t.is((await apply('v1', { targetCPUUtilizationPercentage: 60 })).code, 201);
  const newer = await apply('v2beta2', cpu(70));
  t.deepEqual([newer.code, newer.body.message], [200, undefined]);
  t.deepEqual(newer.body.spec, { ...target, minReplicas: 1, targetCPUUtilizationPercentage: 70 });
  const older = await apply('v1', { targetCPUUtilizationPercentage: 50 });
  t.deepEqual(older.body.spec, { ...target, minReplicas: 1, targetCPUUtilizationPercentage: 50 });
  await world.stop();
});

test('what v1 demands of webhooks is not demanded of a configuration that v1beta1 let in without it', async (t) => {
  const world = await AdmissionWorld.start();
  const configurations = (version: string) =>
    `/apis/admissionregistration.orch.io/${version}/mutatingwebhookconfigurations`;
  const path = `${configurations('v1')}/old`;
  const webhook = { name: 'a.example.com', clientConfig: { url: 'https://example.com' } };
  const created = await world.created(configurations('v1beta1'), {
    metadata: { name: 'old' },
    webhooks: [webhook, webhook],
  });
  const put = async (webhooks: readonly object[]) => {
    const body = { ...(await world.stored(path)), webhooks };
    const answer = await world.write('update', path, { body });
    return answer.body.details?.causes?.map(({ field }) => field) ?? [];
  };
  const labels = { body: { metadata: { labels: { a: 'b' } } } };
  t.is((await world.write('patch', path, labels)).code, 200);
  const [stored] = created.webhooks as readonly [object];
  t.deepEqual(await put([stored, { ...stored, sideEffects: 'Other' }]), ['webhooks[1].sideEffects']);
  // Once it is met, it is demanded.
  t.deepEqual(await put([{ ...stored, sideEffects: 'None' }]), []);
  const two = [stored, { ...stored, sideEffects: 'None' }];
  t.deepEqual(await put(two), ['webhooks[0].sideEffects', 'webhooks[1].name']);
  await world.stop();
});

test('an ingress that v1beta1 let in with a bad secret, or bad paths of a wildcard, can be changed as v1', async (t) => {
  const world = await AdmissionWorld.start();
  const path = `${INGRESSES}/web`;
  const { backend } = OLDER.spec;
  const rules = [{ host: '*.example.com', http: { paths: [{ path: 'a*', backend }] } }];
  await world.created(OLDER_INGRESSES, { ...OLDER, spec: { rules, tls: [{ secretName: 'Bad!' }] } });
  const refused = async (change: object) => {
    const { body } = await world.write('patch', path, { body: change });
    return body.details?.causes?.map(({ field }) => field) ?? [];
  };
  t.deepEqual(await refused({ metadata: { labels: { a: 'b' } } }), []);
  t.deepEqual(await refused({ spec: { tls: [{ secretName: 'Other!' }] } }), []);
  t.deepEqual(await refused({ spec: { tls: null, ingressClassName: 'c' } }), []);
  t.deepEqual(await refused({ spec: { tls: [{ secretName: 'Bad!' }] } }), ['spec.tls[0].secretName']);
  const paths = [{ path: 'b', pathType: 'Prefix', backend: NEWER_SPEC.defaultBackend }];
  t.deepEqual(await refused({ spec: { rules: [{ host: 'a.example.com', http: { paths } }] } }), [
    'spec.rules[0].http.paths[0].path',
  ]);
  await world.stop();
});

test('a certificate request that v1beta1 let in, and its status, can be changed as v1', async (t) => {
  const world = await AdmissionWorld.start();
  const requests = (version: string) => `/apis/certificates.orch.io/${version}/certificatesigningrequests`;
  const path = `${requests('v1')}/old`;
  const request = readFileSync('test/fixtures/certificate-requests/user.pem').toString('base64');
  const spec = { request, signerName: 'orch.io/legacy-unknown', usages: ['x', 'x'] };
  await world.created(requests('v1beta1'), { metadata: { name: 'old' }, spec });
  const status = async (version: string, part: object, subresource = 'status') => {
    const { apiVersion: _, ...stored } = (await world.stored(path)) as Answer;
    const body = { ...stored, status: { ...(stored.status as object | undefined), ...part } };
    const answer = await world.write('update', `${requests(version)}/old/${subresource}`, { body });
    return answer.body.details?.causes?.map(({ field }) => field) ?? [];
  };
  const failed = { type: 'Failed', status: 'True' };
  const nameless = { type: '', status: 'True' };
  const garbage = Buffer.from('garbage').toString('base64');
  t.deepEqual(await status('v1', { conditions: [failed, failed] }), ['status.conditions[1].type']);
  t.deepEqual(await status('v1', { conditions: [nameless] }), ['status.conditions[0].type']);
  t.deepEqual(await status('v1', { certificate: garbage }), ['status.certificate']);
  t.deepEqual(await status('v1beta1', { conditions: [failed, failed, nameless], certificate: garbage }), []);
  const labels = { body: { metadata: { labels: { a: 'b' } } } };
  const labelled = await world.write('patch', path, labels);
  t.deepEqual([labelled.code, labelled.body.message], [200, undefined]);
  t.deepEqual(await status('v1', { conditions: [failed, failed, nameless, nameless] }), []);
  await world.stop();
});

test('who signs a certificate request of v1beta1 and decides as well has all that he says of conditions passed over', async (t) => {
  const world = await AdmissionWorld.start();
  const requests = '/apis/certificates.orch.io/v1beta1/certificatesigningrequests';
  const request = readFileSync('test/fixtures/certificate-requests/user.pem').toString('base64');
  await world.created(requests, { metadata: { name: 'r' }, spec: { request, usages: ['client auth'] } });
  const conditions = [{ type: 'Approved' }, { type: 'Failed' }];
  const write = (version: string) =>
    world.write('patch', `${requests.replace('v1beta1', version)}/r/status`, { body: { status: { conditions } } });
  t.is((await write('v1')).code, 422);
  const { code, body } = await write('v1beta1');
  t.is(code, 200);
  t.is((body.status as { conditions?: unknown } | undefined)?.conditions, undefined);
  await world.stop();
});

test('what an annotation of v1 stands for is held to the rules of the version that says it in full', async (t) => {
  const world = await AdmissionWorld.start();
  const key = 'autoscaling.alpha.orch.io/metrics';
  const annotations = { [key]: '[{"type":"Pods","pods":{"metricName":"","targetAverageValue":"5"}}]' };
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 };
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const { code, body } = await world.write('create', path, { body: { metadata: { name: 'web', annotations }, spec } });
  t.is(code, 422);
  t.deepEqual(
    body.details?.causes?.map(({ field }) => field),
    ['spec.metrics[0].pods.metric.name'],
  );
  await world.stop();
});

const endpoint = (more: object) => ({ addresses: ['10.0.0.1'], conditions: {}, ...more });
const slice = (endpoints: readonly object[]) => ({
  metadata: { name: 's' },
  addressType: 'IPv4',
  ports: [],
  endpoints,
});

test('the topology of endpoints is written in v1beta1 only; its node stays when v1 changes something else', async (t) => {
  const world = await AdmissionWorld.start();
  const path = `${SLICES}/s`;
  const topology = { 'orch.io/hostname': 'n1', rack: '7' };
  await world.created(SLICES, slice([endpoint({ deprecatedTopology: topology })]));
  t.deepEqual((await world.stored(path))?.endpoints, [endpoint({})]);
  await world.write('delete', path);
  await world.created(OLDER_SLICES, slice([endpoint({ topology })]));
  const unchanged = (await world.stored(path))!;
  t.deepEqual(unchanged.endpoints, [endpoint({ deprecatedTopology: topology })]);
  await world.write('patch', path, { body: { metadata: { labels: { a: 'b' } } } });
  t.deepEqual((await world.stored(path))?.endpoints, unchanged.endpoints);
  const more = [...(unchanged.endpoints as object[]), endpoint({ addresses: ['10.0.0.2'] })];
  await world.write('patch', path, { body: { endpoints: more } });
  t.deepEqual((await world.stored(path))?.endpoints, [
    endpoint({ nodeName: 'n1' }),
    endpoint({ addresses: ['10.0.0.2'] }),
  ]);
  await world.stop();
});

test('who sends an endpoint of v1beta1 again, with the name of its node alone, changes nothing and owns nothing', async (t) => {
  const world = await AdmissionWorld.start();
  const sent = {
    metadata: { name: 'nodes' },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.1'], nodeName: 'node-1' },
      { addresses: ['10.0.0.2'], nodeName: 'node-2', topology: { 'orch.io/hostname': 'other', region: 'r' } },
      { addresses: ['10.0.0.3'], topology: { region: 'r' } },
    ],
  };
  await world.created(OLDER_SLICES, sent);
  const stored = (await world.stored(`${SLICES}/nodes`))!;
  await world.write('update', `${OLDER_SLICES}/nodes`, { body: sent, parameters: { fieldManager: 'another' } });
  t.deepEqual(await world.stored(`${SLICES}/nodes`), stored);
  t.deepEqual(
    (stored.endpoints as { nodeName?: string; deprecatedTopology?: object }[]).map((endpoint) => [
      endpoint.nodeName,
      endpoint.deprecatedTopology,
    ]),
    [
      ['node-1', undefined],
      ['node-2', { 'orch.io/hostname': 'other', region: 'r' }],
      [undefined, { region: 'r' }],
    ],
  );
  await world.stop();
});

const SCALED = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 };

test('who writes an autoscaler of v1 changes nothing of its status, and who writes its status nothing of its spec', async (t) => {
  const world = await AdmissionWorld.start();
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const carried = (said: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(said).map(([name, value]) => [`autoscaling.alpha.orch.io/${name}`, JSON.stringify(value)]),
    );
  const write = async (verb: 'create' | 'update', below: string, annotations: object) => {
    const body = { metadata: { name: 'web', annotations }, spec: { ...SCALED, targetCPUUtilizationPercentage: 50 } };
    const { code } = await world.write(verb, `${path('v1')}${below}`, { body });
    t.is(code, verb === 'create' ? 201 : 200);
    const { spec, status } = (await world.write('patch', `${path('v2beta2')}/web`, { body: {}, parameters: DRY_RUN }))
      .body;
    const { conditions, currentMetrics } = status as { conditions: unknown; currentMetrics: unknown };
    return { conditions, currentMetrics, behavior: spec.behavior, metrics: (spec.metrics as object[]).length };
  };
  const conditions = (type: string) => [{ type, status: 'True', lastTransitionTime: null }];
  const ready = carried({ conditions: conditions('AbleToScale') });
  const memory = { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } };
  const none = { conditions: null, currentMetrics: null, behavior: undefined, metrics: 1 };
  t.deepEqual(await write('create', '', ready), none);
  t.deepEqual(await write('update', '/web', ready), none);
  const known = { ...none, conditions: conditions('AbleToScale') };
  t.deepEqual(await write('update', '/web/status', { ...ready, ...carried({ metrics: [memory] }) }), known);
  t.deepEqual(await write('update', '/web', {}), known);
  t.deepEqual(await write('update', '/web', carried({ conditions: [], metrics: [memory] })), { ...known, metrics: 2 });
  t.deepEqual(await write('update', '/web/status', {}), { ...none, metrics: 2 });
  await world.stop();
});

test('metrics that only the newest version can say outlive what v1 changes of the status', async (t) => {
  const world = await AdmissionWorld.start();
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  // Their order is what v1 cannot say.
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  ];
  await world.created(path('v2beta2'), { metadata: { name: 'web' }, spec: { ...SCALED, metrics } });
  const metricsNow = async () =>
    (await world.write('patch', `${path('v2beta2')}/web`, { body: {}, parameters: DRY_RUN })).body.spec.metrics;
  t.deepEqual(await metricsNow(), metrics);
  const status = { currentCPUUtilizationPercentage: 5, currentReplicas: 1, desiredReplicas: 1 };
  for (const subresource of ['/status', '']) {
    const { metadata, spec } = (await world.stored(`${path('v1')}/web`))!;
    await world.write('update', `${path('v1')}/web${subresource}`, { body: { metadata, spec, status } });
    t.deepEqual(await metricsNow(), metrics);
  }
  await world.write('update', `${path('v1')}/web/status`, { body: { metadata: { name: 'web' }, status } });
  t.deepEqual(await metricsNow(), metrics);
  await world.stop();
});

test('a scheduler that tells of the same again begins the series of its event at one', async (t) => {
  const world = await AdmissionWorld.start();
  const path = '/apis/events.orch.io/v1/namespaces/default/events';
  const regarding = { kind: 'Pod', namespace: 'default', name: 'web' };
  const time = '2021-04-08T12:34:56.789012Z';
  const who = { reportingController: 'example.com/a', reportingInstance: 'a-1', action: 'Scheduling' };
  const event = { regarding, eventTime: time, type: 'Warning', reason: 'FailedScheduling', note: 'no nodes', ...who };
  await world.created(path, { metadata: { name: 'web.1' }, ...event });
  const series = { count: 1, lastObservedTime: time };
  const { code, body } = await world.write('patch', `${path}/web.1`, { body: { series } });
  t.deepEqual([code, body.series], [200, series]);
  const begun = await world.write('create', path, { body: { metadata: { name: 'web.2' }, ...event, series } });
  t.deepEqual([begun.code, begun.body.details?.causes?.map(({ field }) => field)], [422, ['series.count']]);
  await world.stop();
});
