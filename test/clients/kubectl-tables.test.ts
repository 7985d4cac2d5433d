// What kubectl prints when it asks for Tables, against a real server in both dialects: kubectl knows the columns of no kind
// itself, and asks under one dialect's group name only.

import ava from 'ava';
import { DIALECT_NAMES, DIALECTS, type Dialect } from '../../config/dialect.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

interface Setup {
  readonly server: ServerProcess;
  readonly kubectl: Kubectl;
}

const setups = new Map<Dialect, Setup>();
const undo: (() => void | Promise<void>)[] = [];

test.before(async () => {
  await Promise.all(
    Object.values(DIALECTS).map(async (dialect) => {
      const server = await startServer(
        { teardown: (step) => undo.push(step) },
        // The node never says again that it is well, and nothing is made of that while it is looked at.
        { args: ['--api-dialect', dialect.name, '--placement', 'single', '--controllers=*,-nodelifecycle'] },
      );
      const kubectl = new Kubectl(server);
      undo.push(() => kubectl.dispose());
      await kubectl.accountIn('default');
      await kubectl.ok(['create', '--validate=false', '-f', '-'], manifest(dialect));
      setups.set(dialect, { server, kubectl });
    }),
  );
});

test.after.always(async () => {
  for (const step of undo) await step();
});

function manifest({ nodeAgent, spell }: Dialect): string {
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
  };
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', labels: { [spell('node-role.@label/worker')]: '' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.1.0.1' }],
        nodeInfo: { [`${nodeAgent}Version`]: 'v1.21.5', osImage: 'Some Linux', kernelVersion: '5.10' },
      },
    },
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels: { app: 'web' } }, spec: template.spec },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'outside' },
      spec: { type: 'ExternalName', externalName: 'db.example.com' },
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: '1', b: '2' } },
    { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'limits' }, spec: { limits: [] } },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
}

/** What each command prints, from its first line on. */
const PRINTED: readonly (readonly [command: string, lines: readonly RegExp[]])[] = [
  ['get nodes', [/^NAME +STATUS +ROLES +AGE +VERSION *$/, /^n1 +Ready,SchedulingDisabled +worker +\w+ +v1\.21\.5 *$/]],
  [
    'get node n1 -o wide',
    [
      /^NAME .* INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME *$/,
      /^n1 .* 10\.1\.0\.1 +<none> +Some Linux +5\.10 +<unknown> *$/,
    ],
  ],
  ['get pods', [/^NAME +READY +STATUS +RESTARTS +AGE *$/, /^web +0\/1 +Pending +0 +\w+ *$/]],
  ['get pods -A', [/^NAMESPACE +NAME +READY/, /^default +web +0\/1 +Pending/]],
  ['get pods -o wide', [/ IP +NODE +NOMINATED NODE +READINESS GATES *$/, / <none> +<none> +<none> +<none> *$/]],
  ['get deploy', [/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE *$/, /^web +0\/3 +0 +0 +\w+ *$/]],
  ['get deploy -o wide', [/ CONTAINERS +IMAGES +SELECTOR *$/, / main +example\/web:1 +app=web *$/]],
  [
    'get svc outside',
    [
      /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE *$/,
      /^outside +ExternalName +<none> +db\.example\.com +<none> /,
    ],
  ],
  ['get cm settings', [/^NAME +DATA +AGE *$/, /^settings +2 +\w+ *$/]],
  ['get limits', [/^NAME +CREATED AT *$/, /^limits +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ *$/]],
  ['get ns default', [/^NAME +STATUS +AGE *$/, /^default +Active +\d+/]],
];

for (const name of DIALECT_NAMES) {
  const dialect = DIALECTS[name];
  for (const [command, lines] of PRINTED) {
    test(`kubectl ${command} prints the columns of the kind (${name})`, async (t) => {
      const printed = await setups.get(dialect)!.kubectl.ok(command.split(' '));
      for (const [index, line] of lines.entries()) t.regex(printed.split('\n')[index] ?? '', line);
    });
  }

  test(`kubectl get -w prints a row for each change, under one heading (${name})`, async (t) => {
    const { kubectl } = setups.get(dialect)!;
    await kubectl.ok(['create', 'namespace', 'watched']);
    const following = kubectl.follow(t, ['-n', 'watched', 'get', 'cm', '-w']);
    const isOurs = (line: string): boolean => !/root-ca/.test(line);
    await kubectl.ok(['-n', 'watched', 'create', 'cm', 'one', '--from-literal=a=1']);
    await following.lineMatching(/^one +1 /);
    await kubectl.ok(['-n', 'watched', 'patch', 'cm', 'one', '--type=merge', '-p', '{"data":{"b":"2"}}']);
    await following.lineMatching(/^one +2 /);
    await kubectl.ok(['-n', 'watched', 'create', 'cm', 'two']);
    const lines = (await following.lineMatching(/^two +0 /)).filter(isOurs);
    t.is(lines.filter((line) => /^NAME/.test(line)).length, 1);
    t.regex(lines[0]!, /^NAME +DATA +AGE *$/);
    t.deepEqual(
      lines.slice(1).map((line) => line.split(/ +/).slice(0, 2).join(' ')),
      ['one 1', 'one 2', 'two 0'],
    );
  });

  test(`kubectl prints a list that comes in chunks as one (${name})`, async (t) => {
    const { kubectl } = setups.get(dialect)!;
    await kubectl.ok(['create', 'namespace', 'many']);
    const items = Array.from({ length: 150 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `s${String(index).padStart(3, '0')}`, namespace: 'many' },
    }));
    await kubectl.ok(
      ['create', '--validate=false', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
    for (const chunk of ['40', '0']) {
      const printed = await kubectl.ok(['-n', 'many', 'get', 'secrets', '--no-headers', `--chunk-size=${chunk}`]);
      const ours = printed.split('\n').filter((line) => /^s\d{3} +Opaque +0 /.test(line));
      t.is(ours.length, items.length, `in chunks of ${chunk}`);
    }
  });

  test(`a client of metadata gets the metadata of one object and of many (${name})`, async (t) => {
    const { client } = setups.get(dialect)!.server;
    const accept = (kind: string) => ({
      headers: { accept: `application/json;as=${kind};v=v1;g=${dialect.metaGroup}` },
    });
    const path = '/api/v1/namespaces/default/configmaps';
    const one = (await client.get(`${path}/settings`, accept('PartialObjectMetadata'))).json;
    t.deepEqual(Object.keys(one).sort(), ['apiVersion', 'kind', 'metadata']);
    t.is(one.apiVersion, `${dialect.metaGroup}/v1`);
    t.is(one.metadata.name, 'settings');
    const many = (await client.get(path, accept('PartialObjectMetadataList'))).json;
    t.is(many.kind, 'PartialObjectMetadataList');
    const listed = many.items?.find(({ metadata }) => metadata.name === 'settings');
    t.deepEqual(listed, one);
  });
}
