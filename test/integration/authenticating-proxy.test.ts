// A real nginx in front of a real server: it knows users by names and passwords, and speaks for them with its certificate
// (SPEC.md "Authenticating proxy").
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { certificateAuthority, certificateOf, outcomeOf, servicePair } from '../server/credentials.ts';
import { HttpsClient } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { guardProcess } from '../server/process-guard.ts';
import { type Scope, startServer } from '../server/server-process.ts';

const test = testNeeding(ava, ['nginx']);

/** What a user sends to the proxy and what it sends on, as its configuration says. */
function configuration(port: number, serverPort: number, passesHeaders: boolean): string {
  // It reads the files of the test: it stays who has started it, and is one process, which is ended with the test's.
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path bodies;
  proxy_temp_path answers;
  fastcgi_temp_path f;
  uwsgi_temp_path u;
  scgi_temp_path s;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate own.crt;
    ssl_certificate_key own.key;
    location / {
      auth_basic "users";
      auth_basic_user_file users;
      proxy_pass https://127.0.0.1:${serverPort};
      proxy_ssl_certificate front.crt;
      proxy_ssl_certificate_key front.key;
      proxy_set_header Authorization "";
      ${passesHeaders ? '' : 'proxy_set_header X-Remote-User $remote_user;\n      proxy_set_header X-Remote-Group "";'}
    }
  }
}`;
}

/** An nginx until the scope ends. */
async function nginx(scope: Scope, files: string, serverPort: number, passesHeaders: boolean): Promise<number> {
  const port = await freePort();
  writeFileSync(join(files, 'nginx.conf'), configuration(port, serverPort, passesHeaders));
  const child: ChildProcess = spawn('nginx', ['-p', files, '-e', 'stderr', '-c', 'nginx.conf'], { stdio: 'ignore' });
  guardProcess(child, []);
  scope.teardown(async () => {
    const closed = once(child, 'close');
    if (child.exitCode === null && child.kill('SIGTERM')) await closed;
  });
  return port;
}

for (const passesHeaders of [false, true]) {
  const what = passesHeaders ? 'that passes headers on is believed in what it passes on' : 'says who its users are';
  test(`an nginx ${what}`, async (t) => {
    const files = mkdtempSync(join(tmpdir(), 'orch-proxy-'));
    t.teardown(() => rmSync(files, { recursive: true, force: true }));
    mkdirSync(join(files, 'logs'));
    certificateAuthority(files, 'proxies');
    certificateOf(files, 'proxies', 'front', '/CN=front');
    const own = await servicePair(files, 'own');
    const digest = createHash('sha1').update('open sesame').digest('base64');
    writeFileSync(join(files, 'users'), `remy:{SHA}${digest}\n`);
    const server = await startServer(t, {
      args: [
        '--authorization-mode=AlwaysDeny',
        `--requestheader-client-ca-file=${join(files, 'proxies.crt')}`,
        '--requestheader-username-headers=X-Remote-User',
        '--requestheader-group-headers=X-Remote-Group',
        '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      ],
    });
    const port = await nginx(t, files, server.port, passesHeaders);
    const client = new HttpsClient(`https://127.0.0.1:${port}`, own.cert, '');
    t.teardown(() => client.close());
    const ask = (headers: Readonly<Record<string, string>> = {}) =>
      client.get('/api', {
        headers: { Authorization: `Basic ${Buffer.from('remy:open sesame').toString('base64')}`, ...headers },
      });
    const claimed = { 'X-Remote-User': 'root', 'X-Remote-Group': 'system:masters' };
    for (;;) {
      // It listens a moment after it was started.
      const isUp = await ask().then(
        () => true,
        () => false,
      );
      if (isUp) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    t.is(outcomeOf(await ask()), passesHeaders ? 'system:anonymous' : 'remy', 'by itself');
    t.is(outcomeOf(await ask(claimed)), passesHeaders ? 200 : 'remy', 'with headers of the user');
    t.is((await client.get('/api', { headers: claimed })).status, 401, 'who is not let in by the proxy');
    t.is(outcomeOf(await server.client.get('/api', { token: '', headers: claimed })), 'system:anonymous');
  });
}
