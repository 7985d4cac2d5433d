// The server's own commands, as they reach it by the kubeconfig of its data folder.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { AdminPages } from '../../../bin/admin/admin-pages.ts';
import { writeAdminKubeconfig } from '../../../bin/server/admin-kubeconfig.ts';
import { testAuthority } from '../../server/test-authority.ts';

/** The pages of a server that answers so. */
async function pagesOf(t: ExecutionContext, answer: RequestListener): Promise<AdminPages> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-admin-pages-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const { certPem, keyPem } = testAuthority(directory).issue('server', ['127.0.0.1']);
  const server = createServer({ cert: certPem, key: keyPem }, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  writeAdminKubeconfig(directory, { server: `https://127.0.0.1:${port}`, caPem: certPem, token: 'secret' });
  const pages = new AdminPages(directory);
  t.teardown(() => pages.close());
  return pages;
}

test('a command reaches a server whose certificate an authority has signed that the kubeconfig does not hold, as kubectl does', async (t) => {
  const pages = await pagesOf(t, (_, response) => response.end('page'));
  const { status, body } = await pages.page('/');
  t.deepEqual([status, body.toString()], [200, 'page']);
});

test('a command whose server goes over to another protocol is told that it does not answer', async (t) => {
  const pages = await pagesOf(t, (request) => {
    request.socket.write('HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n');
  });
  const error = await t.throwsAsync(pages.page('/'), { code: 'ActorDown' });
  t.regex(error.message, /does not answer: it went over to another protocol$/);
});
