// Certificate requests as users make them, with openssl.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RequestPair {
  readonly requestPem: string;
  readonly keyPem: string;
}

const KINDS = {
  ec: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  rsa: ['rsa:2048'],
  ed25519: ['ed25519'],
} as const;

/** Of this process: openssl takes longer than what is tested with its requests. */
const made = new Map<string, RequestPair>();

/**
 * The same pair for the same question.
 *
 * @param names as openssl takes them: `DNS:a,IP:10.0.0.1`.
 */
export function certificateRequest(subject: string, names = '', kind: keyof typeof KINDS = 'ec'): RequestPair {
  const question = JSON.stringify([subject, names, kind]);
  const pair = made.get(question) ?? newRequest(subject, names, kind);
  made.set(question, pair);
  return pair;
}

function newRequest(subject: string, names: string, kind: keyof typeof KINDS): RequestPair {
  const folder = mkdtempSync(join(tmpdir(), 'orch-request-'));
  try {
    const [key, out] = [join(folder, 'key'), join(folder, 'request')];
    const more = names === '' ? [] : ['-addext', `subjectAltName=${names}`];
    const args = ['req', '-new', '-newkey', ...KINDS[kind], '-nodes', '-keyout', key, '-out', out, '-subj', subject];
    execFileSync('openssl', [...args, ...more], { stdio: 'ignore' });
    return { requestPem: readFileSync(out, 'utf8'), keyPem: readFileSync(key, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
