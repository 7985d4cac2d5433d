// Limits of events on a server with several threads that take requests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { startServer } from '../server/server-process.ts';

const BURST = 40;
const EVENTS = 160;
/** Requests come in on two threads, each of which admits what it takes. */
const THREADS = [
  { name: 'front', count: 2, actors: ['ingress', 'auth', 'audit', 'hub', 'admission'] },
  { name: 'store', count: 1, actors: ['store'] },
  { name: 'control', count: 1, actors: ['scheduler', 'controllers'] },
];

test('a limit of the whole server holds for all of its threads together', async (t) => {
  const files = mkdtempSync(join(tmpdir(), 'orch-events-'));
  t.teardown(() => rmSync(files, { recursive: true }));
  const file = join(files, 'admission.json');
  const configuration = {
    kind: 'Configuration',
    apiVersion: 'eventratelimit.admission.orch.io/v1alpha1',
    limits: [{ type: 'Server', qps: 1, burst: BURST }],
  };
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name: 'EventRateLimit', configuration }],
    }),
  );
  const placement = join(files, 'placement.json');
  writeFileSync(placement, JSON.stringify({ threads: THREADS }));
  const args = [
    `--placement=${placement}`,
    '--enable-admission-plugins=EventRateLimit',
    `--admission-control-config-file=${file}`,
  ];
  const server = await startServer(t, { args });
  const beganMs = performance.now();
  const codes = await Promise.all(
    Array.from({ length: EVENTS }, async (_, index) => {
      const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
      const body = { metadata: { name: `e${index}` }, involvedObject };
      return (await server.client.request('POST', '/api/v1/namespaces/default/events', { body })).status;
    }),
  );
  const filled = Math.ceil((performance.now() - beganMs) / 1000);
  const taken = codes.filter((code) => code === 201).length;
  t.true(taken > 0 && taken <= BURST + filled, `${taken} of ${EVENTS} were taken`);
  t.is(codes.filter((code) => code === 429).length, EVENTS - taken);
});
