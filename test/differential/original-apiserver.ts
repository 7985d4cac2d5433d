// The original server itself, from a file of its own, on an etcd of its own. Both are gone when the scope ends.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/server/free-port.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { HttpsClient } from '../server/https-client.ts';
import { guardProcess } from '../server/process-guard.ts';
import type { Scope } from '../server/server-process.ts';

const TOKEN = 'differential';
const LOOK_MS = 500;
const START_MS_MAX = 120_000;

/** Starts the server of the file, with arguments besides its own. Resolves with its admin's client; rejects when it does not get ready. */
export async function startOriginal(scope: Scope, file: string, more: readonly string[]): Promise<HttpsClient> {
  const etcd = await EtcdMember.start('http', ['--unsafe-no-fsync']);
  scope.teardown(() => etcd.dispose());
  const folder = mkdtempSync(join(tmpdir(), 'orch-original-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const keys = signingKeys(folder);
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, `${TOKEN},admin,admin,system:masters\n`, { mode: 0o600 });
  const child = spawn(
    file,
    [
      ...[`--etcd-servers=${etcd.server}`, `--secure-port=${port}`, '--bind-address=127.0.0.1'],
      ...[`--cert-dir=${folder}`, `--token-auth-file=${tokens}`, '--authorization-mode=RBAC'],
      ...['--service-account-issuer=https://kubernetes.default.svc', `--service-account-key-file=${keys.publicFile}`],
      ...[`--service-account-signing-key-file=${keys.privateFile}`, '--allow-privileged=true', ...more],
    ],
    { stdio: 'ignore' },
  );
  guardProcess(child, [folder]);
  scope.teardown(() => void child.kill('SIGKILL'));
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  failed.catch(() => {}); // Raced with below, and of no interest once it is ready.
  return Promise.race([failed, untilReady(`https://127.0.0.1:${port}`, join(folder, 'apiserver.crt'))]);
}

async function untilReady(url: string, certificate: string): Promise<HttpsClient> {
  for (let leftMs = START_MS_MAX; leftMs > 0; leftMs -= LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    try {
      const client = new HttpsClient(url, readFileSync(certificate, 'utf8'), TOKEN);
      if ((await client.get('/readyz')).status === 200) return client;
      client.close();
    } catch {
      // It has not made its certificate yet, or does not listen.
    }
  }
  throw new Error(`${url} did not get ready within ${START_MS_MAX / 1000} s`);
}

/** A key pair for tokens of service accounts, as files. */
function signingKeys(folder: string): { readonly privateFile: string; readonly publicFile: string } {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const [privateFile, publicFile] = [join(folder, 'accounts.key'), join(folder, 'accounts.pub')];
  writeFileSync(privateFile, pair.privateKey, { mode: 0o600 });
  writeFileSync(publicFile, pair.publicKey);
  return { privateFile, publicFile };
}
