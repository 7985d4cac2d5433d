// Which programs schedule: `up` does, for the pods of one name; `apiserver` does not, nor does `up` where it is told so.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { ApiObject } from '../server/https-client.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { accountIn, eventually, POD_SPEC } from './objects.ts';

const NODE = {
  metadata: { name: 'node1' },
  status: { capacity: { cpu: '4', pods: '10' }, allocatable: { cpu: '4', pods: '10' } },
};

interface ComponentStatus extends ApiObject {
  readonly conditions: readonly { readonly status: string }[];
}

async function schedulerHealth({ client }: ServerProcess): Promise<string | undefined> {
  const { json } = await client.get('/api/v1/componentstatuses/scheduler');
  return (json as ComponentStatus).conditions[0]?.status;
}

for (const [title, settings] of [
  ['apiserver', { command: 'apiserver', args: [] }],
  ['up --scheduler-name off', { command: 'up', args: ['--scheduler-name', 'off'] }],
] as const) {
  for (const placement of ['single', 'default']) {
    test(`${title} serves under the placement ${placement}, and starts no scheduler`, async (t) => {
      const server = await startServer(t, { ...settings, args: [...settings.args, '--placement', placement] });
      const summary = /^placement .*$/m.exec(server.stdout)?.[0] ?? '';
      t.regex(summary, /controllers/);
      t.notRegex(summary, /scheduler/);
      t.is((await server.client.get('/readyz')).text, 'ok');
      t.is(await schedulerHealth(server), 'False');
      t.notRegex((await server.client.get('/metrics')).text, /actor="scheduler"/);
    });
  }
}

test('up schedules the pods of the name it is given, and no others', async (t) => {
  const server = await startServer(t, { args: ['--scheduler-name', 'mine'] });
  const { client } = server;
  t.is(await schedulerHealth(server), 'True');
  await accountIn(client);
  await client.request('POST', '/api/v1/nodes', { body: NODE });
  const pods = '/api/v1/namespaces/default/pods';
  for (const [name, schedulerName] of [
    ['theirs', 'default-scheduler'],
    ['ours', 'mine'],
  ]) {
    const body = { metadata: { name }, spec: { ...POD_SPEC, schedulerName } };
    t.is((await client.request('POST', pods, { body })).status, 201);
  }
  const nodeOf = async (name: string): Promise<unknown> =>
    ((await client.get(`${pods}/${name}`)).json.spec as { nodeName?: string }).nodeName;
  await eventually(
    () => nodeOf('ours'),
    (node) => node === 'node1',
  );
  t.is(await nodeOf('theirs'), undefined);
});

test('up schedules as the profiles of its configuration file say', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-scheduler-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const config = join(directory, 'scheduler.yaml');
  writeFileSync(
    config,
    [
      'apiVersion: kubescheduler.config.k8s.io/v1beta1',
      'kind: KubeSchedulerConfiguration',
      'profiles:',
      '- schedulerName: one',
      '- schedulerName: two',
      '  plugins:',
      '    filter:',
      '      disabled:',
      '      - name: NodeUnschedulable',
      '      - name: TaintToleration',
      '',
    ].join('\n'),
  );
  const { client } = await startServer(t, { args: ['--config', config] });
  await accountIn(client);
  await client.request('POST', '/api/v1/nodes', { body: { ...NODE, spec: { unschedulable: true } } });
  const pods = '/api/v1/namespaces/default/pods';
  for (const schedulerName of ['one', 'two', 'default-scheduler']) {
    const body = { metadata: { name: schedulerName }, spec: { ...POD_SPEC, schedulerName } };
    t.is((await client.request('POST', pods, { body })).status, 201);
  }
  const podOf = async (name: string): Promise<ApiObject> => (await client.get(`${pods}/${name}`)).json as ApiObject;
  await eventually(
    () => podOf('two'),
    ({ spec }) => (spec as { nodeName?: string }).nodeName === 'node1',
  );
  await eventually(
    () => podOf('one'),
    ({ status }) => JSON.stringify(status).includes('Unschedulable'),
  );
  t.notRegex(JSON.stringify((await podOf('default-scheduler')).status), /PodScheduled/);
});

test('why a pod has no node is told in core/v1 where the group of events is switched off', async (t) => {
  const { client } = await startServer(t, { args: ['--runtime-config', 'events.orch.io/v1=false'] });
  await accountIn(client);
  const body = { metadata: { name: 'p' }, spec: POD_SPEC };
  t.is((await client.request('POST', '/api/v1/namespaces/default/pods', { body })).status, 201);
  const events = await eventually(
    async () => (await client.get('/api/v1/namespaces/default/events')).json.items as readonly ApiObject[],
    (items) => items.some(({ reason }) => reason === 'FailedScheduling'),
  );
  t.like(
    events.find(({ reason }) => reason === 'FailedScheduling'),
    {
      message: 'no nodes available to schedule pods',
      involvedObject: { kind: 'Pod', name: 'p' },
      reportingComponent: 'default-scheduler',
    },
  );
});
