// kubectl's ways of changing objects, against a real server, in both dialects: apply by annotation and by the server, who
// owns what, conflicts, and the commands that send patches.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { ApiObject } from '../server/https-client.ts';
import { clusters } from './clusters.ts';
import type { Kubectl } from './kubectl.ts';

const { inBothDialects } = clusters(test);

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

interface Deployment extends ApiObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: Container[] } };
  };
}

const deployment = (image: string, replicas: number | null = 2, more = ''): string => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
${replicas === null ? '' : `  replicas: ${replicas}`}
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: server
        image: ${image}
        ports:
        - containerPort: 80
${more}`;

async function webOf(kubectl: Kubectl, ns: readonly string[]): Promise<Deployment> {
  return kubectl.json<Deployment>([...ns, 'get', 'deploy', 'web', ...kubectl.showManagedFields]);
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly fieldsType: string;
  readonly fieldsV1: object;
}

function entriesOf({ metadata }: ApiObject): readonly Entry[] {
  return (metadata as { managedFields?: readonly Entry[] }).managedFields ?? [];
}

function managersOf(object: ApiObject): readonly string[] {
  return entriesOf(object).map(({ manager, operation }) => `${manager}/${operation}`);
}

inBothDialects('kubectl apply creates, leaves alone, changes and prunes', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('client-side');
  const apply = (manifest: string): Promise<string> => kubectl.ok([...ns, 'apply', '-f', '-'], manifest);
  t.is(await apply(deployment('a:1', 2, '        env: [{name: X, value: "1"}]\n')), 'deployment.apps/web created\n');
  const created = await webOf(kubectl, ns);
  t.is(await apply(deployment('a:1', 2, '        env: [{name: X, value: "1"}]\n')), 'deployment.apps/web unchanged\n');
  t.is((await webOf(kubectl, ns)).metadata.resourceVersion, created.metadata.resourceVersion);
  t.deepEqual(managersOf(created), ['kubectl-client-side-apply/Update']);

  t.is(
    await apply(deployment('a:2', 3, '      - name: helper\n        image: b:1\n')),
    'deployment.apps/web configured\n',
  );
  const changed = await webOf(kubectl, ns);
  t.is(changed.spec.replicas, 3);
  t.deepEqual(
    changed.spec.template.spec.containers.map(({ name, image, env }) => ({ name, image, env })),
    [
      { name: 'server', image: 'a:2', env: undefined },
      { name: 'helper', image: 'b:1', env: undefined },
    ],
  );
  await apply(deployment('a:2', 3));
  const { containers } = (await webOf(kubectl, ns)).spec.template.spec;
  t.deepEqual(
    containers.map(({ name }) => name),
    ['server'],
  );
});

inBothDialects('kubectl apply keeps what others have added', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('kept');
  await kubectl.ok([...ns, 'apply', '-f', '-'], deployment('a:1', null));
  await kubectl.ok([...ns, 'scale', 'deploy', 'web', '--replicas=7']);
  await kubectl.ok([...ns, 'annotate', 'deploy', 'web', 'note=mine']);
  await kubectl.ok([...ns, 'set', 'env', 'deploy/web', 'MODE=on']);
  await kubectl.ok([...ns, 'apply', '-f', '-'], deployment('a:2', null));
  const web = await webOf(kubectl, ns);
  t.is(web.spec.replicas, 7);
  t.is(web.metadata.annotations?.note, 'mine');
  t.deepEqual(web.spec.template.spec.containers[0]?.env, [{ name: 'MODE', value: 'on' }]);
  t.is(web.spec.template.spec.containers[0]?.image, 'a:2');
});

inBothDialects(
  'kubectl apply --server-side creates, repeats without a write, and gives up what it omits',
  async (t, { kubectl }) => {
    const ns = await kubectl.freshNamespace('server-side');
    const apply = (manifest: string): Promise<string> =>
      kubectl.ok([...ns, 'apply', '--server-side', '-f', '-'], manifest);
    t.is(await apply(deployment('a:1', 3)), 'deployment.apps/web serverside-applied\n');
    const created = await webOf(kubectl, ns);
    t.deepEqual(managersOf(created), ['kubectl/Apply']);
    t.like(entriesOf(created)[0], { apiVersion: 'apps/v1', fieldsType: 'FieldsV1' });
    t.deepEqual(entriesOf(created)[0]?.fieldsV1, {
      'f:spec': {
        'f:replicas': {},
        'f:selector': {},
        'f:template': {
          'f:metadata': { 'f:labels': { 'f:app': {} } },
          'f:spec': {
            'f:containers': {
              'k:{"name":"server"}': {
                '.': {},
                'f:image': {},
                'f:name': {},
                'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
              },
            },
          },
        },
      },
    });
    await apply(deployment('a:1', 3));
    t.deepEqual(await webOf(kubectl, ns), created);
    await apply(deployment('a:2', null));
    const changed = await webOf(kubectl, ns);
    t.is(changed.spec.replicas, 1);
    t.is(changed.spec.template.spec.containers[0]?.image, 'a:2');
    t.is(changed.metadata.generation, 2);
  },
);

inBothDialects('kubectl apply --server-side meets conflicts, says whose, and can be forced', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('conflicts');
  const apply = ['apply', '--server-side', '-f', '-'];
  await kubectl.ok([...ns, ...apply], deployment('a:1'));
  const refused = await kubectl.refused([...ns, ...apply, '--field-manager', 'other'], deployment('a:2'));
  const field = '.spec.template.spec.containers[name="server"].image';
  t.true(refused.includes(`Apply failed with 1 conflict: conflict with "kubectl": ${field}`), refused);
  t.is((await webOf(kubectl, ns)).spec.template.spec.containers[0]?.image, 'a:1');

  await kubectl.ok([...ns, ...apply, '--field-manager', 'other', '--force-conflicts'], deployment('a:2'));
  const forced = await webOf(kubectl, ns);
  t.is(forced.spec.template.spec.containers[0]?.image, 'a:2');
  t.deepEqual([...managersOf(forced)].sort(), ['kubectl/Apply', 'other/Apply']);
  const back = await kubectl.refused([...ns, ...apply], deployment('a:1', 9));
  t.regex(back, /Apply failed with 2 conflicts/);
  t.true(back.includes('.spec.replicas') && back.includes(field), back);
});

inBothDialects('appliers of different fields share one object, and each takes back its own', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('sharing');
  const config = (data: object): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' }, data });
  const apply = (manager: string, data: object): Promise<string> =>
    kubectl.ok([...ns, 'apply', '--server-side', '--field-manager', manager, '-f', '-'], config(data));
  await apply('one', { a: '1', both: 'x' });
  await apply('two', { b: '2', both: 'x' });
  await apply('one', {});
  const shared = await kubectl.json<ApiObject>([...ns, 'get', 'cm', 'shared', ...kubectl.showManagedFields]);
  t.deepEqual(shared.data, { b: '2', both: 'x' });
  t.true(managersOf(shared).includes('two/Apply'));
});

inBothDialects('an object applied by annotation can be applied by the server from then on', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('migrating');
  await kubectl.ok([...ns, 'apply', '-f', '-'], deployment('a:1', 4));
  await kubectl.ok([...ns, 'apply', '--server-side', '-f', '-'], deployment('a:2', null));
  const web = await webOf(kubectl, ns);
  t.is(web.spec.template.spec.containers[0]?.image, 'a:2');
  t.true(managersOf(web).includes('kubectl/Apply'));
  // Newer ones turn what they own by annotation into what they own by applying; older ones leave that to the server, which
  // takes what is applied and no more.
  t.is(web.spec.replicas, kubectl.isOlder ? 4 : 1);
  t.is(managersOf(web).includes('kubectl-client-side-apply/Update'), kubectl.isOlder);
});

inBothDialects('commands that change objects own what they change', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('owning');
  await kubectl.ok([...ns, 'apply', '--server-side', '-f', '-'], deployment('a:1'));
  t.is(await kubectl.ok([...ns, 'set', 'image', 'deploy/web', 'server=a:5']), 'deployment.apps/web image updated\n');
  await kubectl.ok([...ns, 'label', 'deploy', 'web', 'tier=front']);
  const web = await webOf(kubectl, ns);
  t.deepEqual([...managersOf(web)].sort(), ['kubectl-label/Update', 'kubectl-set/Update', 'kubectl/Apply']);
  t.deepEqual(entriesOf(web).find(({ manager }) => manager === 'kubectl-set')?.fieldsV1, {
    'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"server"}': { 'f:image': {} } } } } },
  });
  const refused = await kubectl.refused([...ns, 'apply', '--server-side', '-f', '-'], deployment('a:1'));
  t.regex(refused, /conflict with "kubectl-set" using apps\/v1/);
});

inBothDialects('kubectl patch merges by strategy, by key, and by operation', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('patching');
  await kubectl.ok([...ns, 'create', '-f', '-'], deployment('a:1'));
  const patch = (type: string, body: object): Promise<string> =>
    kubectl.ok([...ns, 'patch', 'deploy', 'web', `--type=${type}`, '-p', JSON.stringify(body)]);
  const containers = async (): Promise<string[]> =>
    (await webOf(kubectl, ns)).spec.template.spec.containers.map(({ name, image }) => `${name}=${image}`);
  const withContainers = (list: readonly object[]): object => ({ spec: { template: { spec: { containers: list } } } });
  await patch(
    'strategic',
    withContainers([
      { name: 'side', image: 's:1' },
      { name: 'server', image: 'a:2' },
    ]),
  );
  t.deepEqual(await containers(), ['side=s:1', 'server=a:2']);
  await patch('strategic', withContainers([{ name: 'side', $patch: 'delete' }]));
  t.deepEqual(await containers(), ['server=a:2']);
  await patch('merge', withContainers([{ name: 'only', image: 'o:1' }]));
  t.deepEqual(await containers(), ['only=o:1']);
  await patch('json', [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'o:2' }]);
  t.deepEqual(await containers(), ['only=o:2']);
  t.is(
    await patch('strategic', withContainers([{ name: 'only', image: 'o:2' }])),
    'deployment.apps/web patched (no change)\n',
  );
  const bad = ['--type=strategic', '-p', JSON.stringify(withContainers([{ image: 'x' }]))];
  t.regex(await kubectl.refused([...ns, 'patch', 'deploy', 'web', ...bad]), kubectl.isOlder ? /is invalid/ : /name/);
});

inBothDialects('kubectl edit sends what the editor made of the object', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('editing');
  await kubectl.ok([...ns, 'apply', '-f', '-'], deployment('a:1'));
  const directory = mkdtempSync(join(tmpdir(), 'orch-editor-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const editor = join(directory, 'editor.sh');
  writeFileSync(editor, '#!/bin/sh\nsed -i -e "s/replicas: 2/replicas: 6/" -e "s/image: a:1/image: a:9/" "$1"\n', {
    mode: 0o755,
  });
  t.is(await kubectl.ok([...ns, 'edit', 'deploy', 'web'], '', { EDITOR: editor }), 'deployment.apps/web edited\n');
  const web = await webOf(kubectl, ns);
  t.is(web.spec.replicas, 6);
  t.is(web.spec.template.spec.containers[0]?.image, 'a:9');
  t.true(managersOf(web).includes('kubectl-edit/Update'));
});

inBothDialects('kubectl replace --force makes the object anew', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('replacing');
  const config = (data: object): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it' }, data });
  await kubectl.ok([...ns, 'create', '-f', '-'], config({ a: '1' }));
  const before = await kubectl.json<ApiObject>([...ns, 'get', 'cm', 'it']);
  const said = await kubectl.ok([...ns, 'replace', '--force', '-f', '-'], config({ b: '2' }));
  t.regex(said, /configmap\/it replaced/);
  const after = await kubectl.json<ApiObject>([...ns, 'get', 'cm', 'it', ...kubectl.showManagedFields]);
  t.deepEqual(after.data, { b: '2' });
  t.not(after.metadata.uid, before.metadata.uid);
  t.deepEqual(managersOf(after), ['kubectl-replace/Update']);
});

inBothDialects('a dry run shows what an apply would make, and makes nothing', async (t, { kubectl }) => {
  const ns = await kubectl.freshNamespace('rehearsing');
  const dry = ['apply', '--server-side', '--dry-run=server', '-o', 'json', ...kubectl.showManagedFields, '-f', '-'];
  const rehearsed = JSON.parse(await kubectl.ok([...ns, ...dry], deployment('a:1'))) as ApiObject;
  t.deepEqual(managersOf(rehearsed), ['kubectl/Apply']);
  t.is(await kubectl.ok([...ns, 'get', 'deploy', '-o', 'name']), '');
  await kubectl.ok([...ns, 'apply', '--server-side', '-f', '-'], deployment('a:1'));
  const again = JSON.parse(await kubectl.ok([...ns, ...dry], deployment('a:2'))) as Deployment;
  t.is(again.spec.template.spec.containers[0]?.image, 'a:2');
  t.is((await webOf(kubectl, ns)).spec.template.spec.containers[0]?.image, 'a:1');
  const made = JSON.parse(
    await kubectl.ok([
      ...ns,
      'create',
      '--dry-run=server',
      '-o',
      'json',
      ...kubectl.showManagedFields,
      'configmap',
      'x',
    ]),
  ) as ApiObject;
  t.deepEqual(managersOf(made), []);
});
