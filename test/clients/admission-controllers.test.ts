// kubectl in a cluster with two admission controllers, and in one with quotas.
import * as k8s from '@kubernetes/client-node';
import ava, { type ExecutionContext } from 'ava';
import { eventually } from '../integration/objects.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { startServer } from '../server/server-process.ts';
import { startGuard, startInjector } from './admission-controllers.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

async function cluster(t: ExecutionContext): Promise<{ kubectl: Kubectl; config: k8s.KubeConfig }> {
  const server = await startServer(t, { args: ['--api-dialect', 'kubernetes'] });
  const kubectl = new Kubectl(server);
  t.teardown(() => kubectl.dispose());
  const config = new k8s.KubeConfig();
  config.loadFromFile(server.kubeconfig);
  return { kubectl, config };
}

const denial = (path: string, why: string): string =>
  `admission webhook "${path}.controllers.example" denied the request: ${why}`;

test('two admission controllers have their say in what kubectl does', async (t) => {
  const { kubectl, config } = await cluster(t);
  await startInjector(t, config);
  await startGuard(t, config);
  await kubectl.ok(['create', 'configmap', 'registries', '--from-literal=ours=registry.example']);
  await kubectl.ok(['create', 'namespace', 'team']);
  for (const namespace of ['default', 'team']) await kubectl.accountIn(namespace);
  await kubectl.ok(['label', 'namespace', 'team', 'inject=yes', 'protected=yes']);
  const team = ['-n', 'team'];
  const run = (name: string, image: string, ...more: readonly string[]): string[] => [
    ...team,
    'run',
    name,
    `--image=${image}`,
    ...more,
  ];
  const foreign = denial('images', 'other.example/web:1 is of no known registry');
  t.is(await kubectl.refused(run('bad', 'other.example/web:1')), `Error from server (Forbidden): ${foreign}\n`);
  const untagged = await kubectl.run(run('untagged', 'registry.example/web'));
  t.is(untagged.stderr, 'Warning: registry.example/web has no tag\n');

  const tried = ['--dry-run=server', '-o', 'jsonpath={.spec.containers[*].name}'];
  t.is(await kubectl.ok(run('tried', 'registry.example/web:1', ...tried)), 'tried proxy');
  t.is(await kubectl.ok(run('web', 'registry.example/web:1')), 'pod/web created\n');
  const ofWeb = (path: string): Promise<string> => kubectl.ok([...team, 'get', 'pod', 'web', '-o', `jsonpath=${path}`]);
  t.is(await ofWeb('{.spec.containers[*].name} {.metadata.annotations.injected}'), 'web proxy proxy');
  t.true((await kubectl.refused([...team, 'set', 'image', 'pod/web', 'web=other.example/web:1'])).includes(foreign));
  t.is(await ofWeb('{.spec.containers[0].image}'), 'registry.example/web:1');

  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { zone: 'north' } } };
  await kubectl.ok(['create', '-f', '-'], JSON.stringify(node));
  const held = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'held' } };
  const spec = { schedulerName: 'by-hand', containers: [{ name: 'c', image: 'registry.example/web:1' }] };
  await kubectl.ok(['create', '-f', '-'], JSON.stringify({ ...held, spec }));
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'held' },
    target: { kind: 'Node', name: 'n' },
  };
  const path = '/api/v1/namespaces/default/pods/held/binding';
  await kubectl.ok(['create', '--raw', path, '-f', '-'], JSON.stringify(binding));
  const bound = ['get', 'pod', 'held', '-o', 'jsonpath={.spec.nodeName} {.metadata.annotations.zone}'];
  t.is(await kubectl.ok(bound), 'n north');
  t.true((await kubectl.refused(['exec', 'held', '--', 'ls'])).includes(denial('shells', 'no shells here')));

  await kubectl.ok(['create', 'deployment', 'web', '--image=registry.example/web:1']);
  t.true((await kubectl.refused(['scale', 'deployment/web', '--replicas=50'])).includes('at most 10 replicas'));
  t.is(await kubectl.ok(['scale', 'deployment/web', '--replicas=7']), 'deployment.apps/web scaled\n');
  t.is(
    await kubectl.refused(['delete', 'namespace', 'team', '--wait=false']),
    `Error from server (Forbidden): ${denial('namespaces', 'it is protected')}\n`,
  );
});

test('kubectl makes quotas, shows what of them is used, and is told where they end', async (t) => {
  const { kubectl } = await cluster(t);
  const ns = await kubectl.freshNamespace('measured');
  await kubectl.ok([...ns, 'create', 'quota', 'some', '--hard=pods=2,requests.cpu=1,services=1']);
  await kubectl.ok([...ns, 'create', 'quota', 'idle', '--hard=pods=0', '--scopes=BestEffort']);
  const create = (name: string, cpu: string): [string[], string] => {
    const containers = [{ name: 'c', image: 'i', resources: cpu === '' ? {} : { requests: { cpu } } }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers } };
    return [[...ns, 'create', '-f', '-'], JSON.stringify(pod)];
  };
  const refusal = async (name: string, cpu: string): Promise<string> => {
    const said = await kubectl.refused(...create(name, cpu));
    return said.replace('Error from server (Forbidden): error when creating "STDIN": ', '');
  };
  for (const [quota, measured] of [
    ['some', /^pods +0 +2$/m],
    ['idle', /^pods +0 +0$/m],
  ] as const)
    await eventually(
      () => kubectl.ok([...ns, 'describe', 'quota', quota]),
      (text) => measured.test(text),
    );
  await kubectl.ok(...create('a', '300m'));
  t.is(
    await refusal('b', '800m'),
    'pods "b" is forbidden: exceeded quota: some, requested: requests.cpu=800m, used: requests.cpu=300m, ' +
      'limited: requests.cpu=1\n',
  );
  await kubectl.ok(...create('b', '700m'));
  t.regex(
    await refusal('c', '1m'),
    /exceeded quota: some, requested: pods=1,requests.cpu=1m, used: pods=2,requests.cpu=1, /,
  );
  t.regex(await refusal('d', ''), /^pods "d" is forbidden: (exceeded quota: idle|failed quota: some: must specify)/);
  const used = await kubectl.ok([...ns, 'describe', 'quota', 'some']);
  t.regex(used, /^pods +2 +2$/m);
  t.regex(used, /^requests.cpu +1 +1$/m);
  t.regex(used, /^services +0 +1$/m);
  t.regex(await kubectl.ok([...ns, 'describe', 'quota', 'idle']), /^Scopes: +BestEffort$/m);
  t.regex(await kubectl.ok(['describe', 'namespace', ns[1]!]), /Resource Quotas/);
  await kubectl.ok([...ns, 'delete', 'pod', 'a', '--now']);
  await eventually(
    () => kubectl.ok([...ns, 'describe', 'quota', 'some']),
    (text) => /^pods +1 +2$/m.test(text) && /^requests.cpu +700m +1$/m.test(text),
  );
  await kubectl.ok(...create('c', '300m'));
  t.regex(await kubectl.ok([...ns, 'get', 'quota', 'some']), /pods: 2\/2/);
});
