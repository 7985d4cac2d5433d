// The server's certificate and key: the operator's files, or a self-signed pair that is made once and kept in a
// directory. Owns those two files. Hands out PEM text; listeners decide what to do with it.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { makeSelfSigned, subjectAltName } from './self-signed.ts';

/** A certificate, with its intermediates if it has any, and its key, as PEM text. */
export interface KeyPair {
  readonly certPem: string;
  readonly keyPem: string;
}

const CERT_FILE = 'apiserver.crt';
const KEY_FILE = 'apiserver.key';

const VALID_YEARS = 10;

/** A pair that has less than this left is made again at start: a server may run for long. */
const RENEW_BEFORE_MS = 30 * 24 * 3600 * 1000;

/** A client whose clock is behind still accepts a new certificate. */
const BACKDATED_MS = 3600 * 1000;

/** Loads the operator's pair. Rejects with BadConfiguration, naming the file, when they cannot be read or do not match. */
export async function loadKeyPair(certFile: string, keyFile: string): Promise<KeyPair> {
  const [certPem, keyPem] = await Promise.all([readPem(certFile), readPem(keyFile)]);
  const problem = mismatch({ certPem, keyPem });
  if (problem === undefined) return { certPem, keyPem };
  throw new OrchError('BadConfiguration', `${certFile} and ${keyFile} cannot be used: ${problem}`);
}

/**
 * The self-signed pair kept in `directory`, which is made when it is missing. The certificate is its own authority and is
 * for localhost, its addresses, this host's name, and `extraNames` (DNS names or IP addresses). It is made again when the
 * files are damaged or do not match, when it has expired or soon will, and when the names have changed.
 */
export async function selfSignedKeyPair(directory: string, extraNames: readonly string[] = []): Promise<KeyPair> {
  const names = [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...extraNames])];
  const now = Date.now();
  const kept = await readKept(directory);
  if (kept !== undefined && isUsable(kept, names, now)) return kept;
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + VALID_YEARS);
  const made = await makeSelfSigned({
    commonName: `${hostname().slice(0, 40)}@${Math.floor(now / 1000)}`,
    names,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter,
  });
  await keep(directory, made);
  return made;
}

/** Why certificate and key cannot be used together, if so. */
function mismatch({ certPem, keyPem }: KeyPair): string | undefined {
  try {
    if (new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem))) return undefined;
    return 'the key does not belong to the certificate';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isUsable(pair: KeyPair, names: readonly string[], nowMs: number): boolean {
  if (mismatch(pair) !== undefined) return false;
  const certificate = new X509Certificate(pair.certPem);
  const isCurrent =
    nowMs >= Date.parse(certificate.validFrom) && nowMs + RENEW_BEFORE_MS < Date.parse(certificate.validTo);
  return isCurrent && certificate.raw.includes(subjectAltName(names));
}

async function readKept(directory: string): Promise<KeyPair | undefined> {
  try {
    const [certPem, keyPem] = await Promise.all([
      readFile(join(directory, CERT_FILE), 'utf8'),
      readFile(join(directory, KEY_FILE), 'utf8'),
    ]);
    return { certPem, keyPem };
  } catch {
    return undefined;
  }
}

async function keep(directory: string, pair: KeyPair): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    // On disk before a client is told to trust it. Each is a new file under its name: the mode is the asked one.
    const { disk } = realEnvironment;
    await disk.writeFileAtomic(join(directory, KEY_FILE), Buffer.from(pair.keyPem), 0o600);
    await disk.writeFileAtomic(join(directory, CERT_FILE), Buffer.from(pair.certPem), 0o644);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OrchError('BadConfiguration', `the certificate directory ${directory} cannot be written: ${reason}`);
  }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OrchError('BadConfiguration', `${file} cannot be read: ${reason}`);
  }
}
