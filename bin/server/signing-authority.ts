// The authority that signs the certificates requested of the cluster: a pair of this server's own, made once and kept in the
// data directory. Owns those two files.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SigningAuthority } from '../../actors/controllers/options.ts';
import { CertificateAuthority } from '../../api/certificates/issue.ts';
import { messageOf, OrchError } from '../../runtime/errors.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { pairProblem } from '../../transport/tls/certificates.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { unwritable } from './directory-claim.ts';

/** Below the data directory. */
const FOLDER = 'pki';
const CERT_FILE = 'cluster-ca.crt';
const KEY_FILE = 'cluster-ca.key';
const VALID_YEARS = 10;
const BACKDATED_MS = 3600 * 1000;
const COMMON_NAME = 'orch-cluster-ca';

/** Where its certificate is. */
export function authorityFile(directory: string): string {
  return join(directory, FOLDER, CERT_FILE);
}

/**
 * The pair in the data directory, which is made when there is none and when it has expired. Throws BadConfiguration where what
 * is there cannot be used: others may trust it, so nothing takes its place unasked; also where a new one cannot be written.
 */
export async function signingAuthority(directory: string): Promise<SigningAuthority> {
  const [certFile, keyFile] = [authorityFile(directory), keyFileOf(directory)];
  const files = { certFile, keyFile };
  const kept = keptPair(certFile, keyFile);
  if (kept !== undefined) return { ...kept, files };
  const now = Date.now();
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + VALID_YEARS);
  const notBefore = new Date(now - BACKDATED_MS);
  const pair = await makeSelfSigned({ commonName: COMMON_NAME, names: [], notBefore, notAfter, purpose: 'authority' });
  const { disk } = realEnvironment;
  try {
    mkdirSync(dirname(certFile), { recursive: true });
    await disk.writeFileAtomic(keyFile, Buffer.from(pair.keyPem), 0o600);
    await disk.writeFileAtomic(certFile, Buffer.from(pair.certPem), 0o644);
  } catch (error) {
    throw unwritable(directory, error);
  }
  return { ...pair, files };
}

/** Throws what a start would because of the pair in the data directory. Makes nothing. */
export function checkSigningAuthority(directory: string): void {
  keptPair(authorityFile(directory), keyFileOf(directory));
}

function keyFileOf(directory: string): string {
  return join(directory, FOLDER, KEY_FILE);
}

/** Undefined where there is none, for a pair that has expired, and for a key whose certificate was never written. */
function keptPair(certFile: string, keyFile: string): SigningAuthority | undefined {
  if (!existsSync(certFile)) return undefined;
  let reason: string | undefined;
  try {
    const pair = { certPem: readFileSync(certFile, 'utf8'), keyPem: readFileSync(keyFile, 'utf8') };
    reason = pairProblem(pair);
    if (reason === undefined) return new CertificateAuthority(pair).notAfterMs > Date.now() ? pair : undefined;
  } catch (error) {
    reason = messageOf(error);
  }
  throw new OrchError('BadConfiguration', `${certFile} and ${keyFile} cannot be used: ${reason}`);
}
