// What tests show a server of themselves, good and bad: certificates made with openssl as operators do, services that speak for
// users, and what comes of a request. Nothing here is part of a server.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import type { Answer } from './https-client.ts';
import type { Scope } from './server-process.ts';

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function openssl(files: string, ...args: string[]): void {
  execFileSync('openssl', args, { cwd: files, stdio: 'ignore' });
}

/** A certificate authority: `name.crt` and `name.key` in the folder. */
export function certificateAuthority(files: string, name: string): void {
  openssl(files, 'req', '-x509', ...EC_KEY, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`);
}

/** An authority that another one of the folder vouches for. */
export function intermediateAuthority(files: string, authority: string, name: string): void {
  const signer = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`];
  const made = ['-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`];
  openssl(files, 'req', '-x509', ...EC_KEY, ...signer, ...made);
}

export interface CertificateTerms {
  /** The extended usage. */
  readonly usage?: string;
  /** As openssl writes times, `YYYYMMDDHHMMSSZ`. */
  readonly from?: string;
  readonly until?: string;
  /** As openssl writes other names, `IP:127.0.0.1`. */
  readonly names?: readonly string[];
}

/** A certificate of an authority of the folder: `name.crt` and `name.key`. `subject` as `/CN=jane/O=dev`. */
export function certificateOf(
  files: string,
  authority: string,
  name: string,
  subject: string,
  { usage = 'clientAuth', from = '20200101000000Z', until = '20490101000000Z', names = [] }: CertificateTerms = {},
): void {
  const config = [
    '[ca]\ndefault_ca=own',
    `[own]\ndatabase=${name}.index\nserial=${name}.serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\nx509_extensions=more`,
    '[any]\ncommonName=optional\norganizationName=optional',
    `[more]\nextendedKeyUsage=${usage}`,
    ...(names.length === 0 ? [] : [`subjectAltName=${names.join(',')}`]),
  ];
  writeFileSync(join(files, `${name}.conf`), config.join('\n'));
  writeFileSync(join(files, `${name}.index`), '');
  writeFileSync(join(files, `${name}.index.attr`), 'unique_subject=no\n');
  // An even count of digits, or openssl does not read it.
  writeFileSync(join(files, `${name}.serial`), randomBytes(8).toString('hex'));
  openssl(files, 'req', ...EC_KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject);
  const signer = ['-cert', `${authority}.crt`, '-keyfile', `${authority}.key`];
  const span = ['-startdate', from, '-enddate', until];
  const made = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-notext'];
  openssl(files, 'ca', '-batch', '-preserveDN', '-config', `${name}.conf`, ...signer, ...span, ...made);
}

/** A certificate for 127.0.0.1 that signs itself, as `name.crt` in the folder too. */
export async function servicePair(files: string, name: string): Promise<{ cert: string; key: string }> {
  const now = Date.now();
  const span = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 86_400_000) };
  const { certPem, keyPem } = await makeSelfSigned({ commonName: name, names: ['127.0.0.1'], ...span });
  writeFileSync(join(files, `${name}.crt`), certPem);
  writeFileSync(join(files, `${name}.key`), keyPem);
  return { cert: certPem, key: keyPem };
}

/** A service over HTTPS on a port of its own, until the scope ends. Its certificate is `name.crt`. Resolves with its address. */
export async function httpsService(
  scope: Scope,
  files: string,
  name: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(await servicePair(files, name), answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.teardown(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, value: object): void {
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(value));
}

/** The JSON that was sent. */
export async function jsonOf<T>(request: IncomingMessage): Promise<T> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as T;
}

/** A file that says how a server reaches a webhook at `url`, with a bearer token. Its certificate is `name.crt`. */
export function connectionFile(files: string, name: string, url: string, token: string): string {
  const path = join(files, `${name}.conf`);
  const config = {
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 's', user: 'u' } }],
    clusters: [{ name: 's', cluster: { server: url, 'certificate-authority': `${name}.crt` } }],
    users: [{ name: 'u', user: { token } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** A token that says it needs no signature. */
export function unsignedToken(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}

/**
 * Under AlwaysDeny: 200 for a superuser, the name of anybody else, 401 for who is not let in. Throws where a refusal is no
 * Status.
 */
export function outcomeOf({ status, json, text }: Answer): number | string {
  if (status === 200) return status;
  if (json.kind !== 'Status' || json.code !== status) throw new Error(`${status} without its Status: ${text}`);
  if (status !== 403) return status;
  return /User "([^"]*)"/.exec(json.message ?? '')?.[1] ?? status;
}
