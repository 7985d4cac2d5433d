// The server's own commands, as they reach it by the kubeconfig of its data folder.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { AdminPages } from '../../../bin/admin/admin-pages.ts';
import { writeAdminKubeconfig } from '../../../bin/server/admin-kubeconfig.ts';
import { testAuthority } from '../../server/test-authority.ts';

test('a command reaches a server whose certificate an authority has signed that the kubeconfig does not hold, as kubectl does', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-admin-pages-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const { certPem, keyPem } = testAuthority(directory).issue('server', ['127.0.0.1']);
  const server = createServer({ cert: certPem, key: keyPem }, (_, response) => response.end('page'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  writeAdminKubeconfig(directory, { server: `https://127.0.0.1:${port}`, caPem: certPem, token: 'secret' });
  const pages = new AdminPages(directory);
  t.teardown(() => pages.close());
  const { status, body } = await pages.page('/');
  t.deepEqual([status, body.toString()], [200, 'page']);
});
