// The serving certificate: the operator's pair, or one this server makes for itself and keeps in a directory.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { OrchError } from '../runtime/errors.ts';
import { makeSelfSigned } from './self-signed.ts';

const CERT_FILE = 'apiserver.crt';
const KEY_FILE = 'apiserver.key';
/** A pair of ours that ends sooner than this is made again. */
const RENEW_BEFORE_MS = 30 * 86_400_000;
const ALWAYS_NAMES = ['localhost', '127.0.0.1', '::1'] as const;

export interface TlsSources {
  /** The operator's pair; both empty: one of our own. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Where our own pair is kept. */
  readonly directory: string;
  /** Further host names and addresses that our own pair must be good for. */
  readonly names: readonly string[];
}

export interface ServingPair {
  readonly certPem: string;
  readonly keyPem: string;
  /** What clients should trust: the whole chain, of which a self-signed certificate is the only link. */
  readonly caPem: string;
}

/** Throws OrchError BadConfiguration when files cannot be read or do not belong together. */
export function loadTlsMaterial(sources: TlsSources): ServingPair {
  const { certFile, keyFile, directory } = sources;
  if (certFile !== '') return operatorsPair(certFile, keyFile);
  const certPath = join(directory, CERT_FILE);
  const keyPath = join(directory, KEY_FILE);
  const names = [...new Set([...ALWAYS_NAMES, hostname(), ...sources.names])].filter((name) =>
    /^[\x21-\x7e]+$/.test(name),
  );
  const kept = keptPair(certPath, keyPath, names);
  if (kept !== undefined) return { ...kept, caPem: kept.certPem };
  const made = makeSelfSigned('orch', names, Date.now());
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeWhole(keyPath, made.keyPem, 0o600);
    writeWhole(certPath, made.certPem, 0o644);
  } catch (error) {
    throw new OrchError(
      'BadConfiguration',
      `the certificate directory ${directory} is not writable (${codeOf(error)})`,
    );
  }
  return { ...made, caPem: made.certPem };
}

function operatorsPair(certFile: string, keyFile: string): ServingPair {
  const certPem = readPem(certFile);
  const keyPem = readPem(keyFile);
  try {
    if (!new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem))) throw new Error('they do not match');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OrchError('BadConfiguration', `the certificate ${certFile} and key ${keyFile} cannot be used: ${reason}`);
  }
  return { certPem, keyPem, caPem: certPem };
}

/** A pair made at an earlier start, if it is still good for all the names. */
function keptPair(
  certPath: string,
  keyPath: string,
  names: readonly string[],
): { certPem: string; keyPem: string } | undefined {
  if (!existsSync(certPath) || !existsSync(keyPath)) return undefined;
  try {
    const certPem = readFileSync(certPath, 'utf8');
    const keyPem = readFileSync(keyPath, 'utf8');
    const certificate = new X509Certificate(certPem);
    const isLasting = Date.parse(certificate.validTo) - Date.now() > RENEW_BEFORE_MS;
    const covers = names.every((name) => (certificate.checkIP(name) ?? certificate.checkHost(name)) !== undefined);
    return isLasting && covers && certificate.checkPrivateKey(createPrivateKey(keyPem))
      ? { certPem, keyPem }
      : undefined;
  } catch {
    return undefined;
  }
}

function writeWhole(path: string, text: string, mode: number): void {
  writeFileSync(`${path}.new`, text, { mode });
  renameSync(`${path}.new`, path);
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OrchError('BadConfiguration', `${path} cannot be read (${codeOf(error)})`);
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
