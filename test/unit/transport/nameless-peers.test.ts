// Goal: servers whose certificates have no names beside their subject are noticed, once a connection, by both clients of services.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { AgentClient } from '../../../transport/outgoing/agent-client.ts';
import { NOTHING_SHOWN } from '../../../transport/outgoing/connection-file.ts';
import { webhookCalls } from '../../../transport/outgoing/rest-client-metrics.ts';
import { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { testAuthority } from '../../server/test-authority.ts';

const PATIENT_MS = 240_000;
const folder = mkdtempSync(join(tmpdir(), 'orch-nameless-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));
const AUTHORITY = testAuthority(folder);
const NAME = 'named.test';

for (const [what, names, expected] of [
  ['without names', [], 1],
  ['with one', [NAME], 0],
] as const) {
  test(`of a certificate ${what}, ${expected} is counted for two calls over a connection`, async (t) => {
    const { certPem: cert, keyPem: key } = AUTHORITY.issue(NAME, names);
    let connections = 0;
    const server = createServer({ cert, key }, (_request, response) => response.end('{}'));
    // On a busy machine a call may begin long after the one before it has ended.
    server.keepAliveTimeout = 0;
    server.on('secureConnection', () => connections++);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}`;
    const metrics = new MetricsRegistry();
    const service = new ServiceClient({
      connection: { ...NOTHING_SHOWN, url, caPem: AUTHORITY.certPem, insecure: false, serverName: NAME },
      readFile: () => Promise.reject(new Error('no file')),
      nowMs: () => 0,
      onRefused: () => {},
      ...webhookCalls(metrics, url),
    });
    t.teardown(() => service.close());
    let seen = 0;
    const agent = new AgentClient({
      tls: { caPem: AUTHORITY.certPem },
      connectTimeoutMs: PATIENT_MS,
      onNameless: () => seen++,
    });
    t.teardown(() => agent.close());
    const target = { scheme: 'https', host: '127.0.0.1', port, trust: 'service', serverName: NAME } as const;
    for (let call = 0; call < 2; call++) {
      await service.post('{}', PATIENT_MS);
      const answer = await agent.send(target, { method: 'GET', path: '/', headers: [], body: undefined }, () => {});
      await answer.text(100);
    }
    t.is(connections, 2, 'one for each client');
    const counted = metrics.reading().find(({ name }) => name === 'apiserver_webhooks_x509_missing_san_total');
    t.deepEqual([counted?.series[0]?.value, seen], [expected, expected]);
  });
}
