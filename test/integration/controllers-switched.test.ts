// Controllers switched off on a real server.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { eventually, POD_SPEC } from './objects.ts';

test('a controller that is switched off leaves its work to others', async (t) => {
  const { client } = await startServer(t, { args: ['--controllers', 'serviceaccount,root-ca-cert-publisher'] });
  const core = '/api/v1/namespaces/left';
  t.is((await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'left' } } })).status, 201);
  for (const path of ['serviceaccounts/default', 'configmaps/orch-root-ca.crt'])
    await eventually(
      () => client.get(`${core}/${path}`),
      ({ status }) => status === 200,
    );
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '5' } } };
  t.is((await client.request('POST', `${core}/resourcequotas`, { body: quota })).status, 201);
  t.is(
    (await client.request('POST', `${core}/pods`, { body: { metadata: { name: 'p' }, spec: POD_SPEC } })).status,
    201,
  );
  t.is((await client.request('DELETE', '/api/v1/namespaces/left')).status, 200);
  // What would have been done by now, had it been anybody's: another write and its following work pass meanwhile.
  t.is((await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'next' } } })).status, 201);
  await eventually(
    () => client.get('/api/v1/namespaces/next/serviceaccounts/default'),
    ({ status }) => status === 200,
  );
  t.is((await client.get(`${core}/pods/p`)).status, 200);
  const { json } = await client.get('/api/v1/namespaces/left');
  t.is((json as { status?: { phase?: string } }).status?.phase, 'Terminating');
  t.is(((await client.get(`${core}/resourcequotas/q`)).json.status as { used?: object } | undefined)?.used, undefined);
});
