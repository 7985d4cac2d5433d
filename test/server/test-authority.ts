// An authority of its own for a test, and pairs that it signs, made with openssl as operators do.
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPair } from '../../transport/http.ts';

const QUIET: ExecFileSyncOptions = { stdio: 'ignore' };
const NEW_KEYS = {
  'P-256': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
  'RSA-1024': ['-newkey', 'rsa:1024', '-nodes'],
  'RSA-2048': ['-newkey', 'rsa:2048', '-nodes'],
  Ed25519: ['-newkey', 'ed25519', '-nodes'],
};

/** Several after commas. */
type IssuedUsage = 'serverAuth' | 'clientAuth' | 'anyExtendedKeyUsage' | 'codeSigning,anyExtendedKeyUsage';

export interface TestAuthority extends IssuedPair {
  /** A pair for the names, DNS names or IP addresses. Its files lie in the authority's folder. */
  issue(commonName: string, names: readonly string[], usage?: IssuedUsage): IssuedPair;
  /** Another certificate of the same key and name. */
  renewed(): string;
}

export interface IssuedPair extends KeyPair {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Makes the authority, its files named after it. */
export function testAuthority(
  folder: string,
  name = 'authority',
  keys: keyof typeof NEW_KEYS = 'P-256',
): TestAuthority {
  const newKey = NEW_KEYS[keys];
  const path = (file: string): string => join(folder, file);
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, QUIET);
  const [certFile, keyFile] = [path(`${name}.crt`), path(`${name}.key`)];
  const itself = ['-days', '2', '-subj', `/CN=${name}`];
  openssl('req', '-x509', ...newKey, '-keyout', keyFile, '-out', certFile, ...itself);
  let issued = 0;
  return {
    certFile,
    keyFile,
    certPem: readFileSync(certFile, 'utf8'),
    keyPem: readFileSync(keyFile, 'utf8'),
    issue(commonName, names, usage = 'serverAuth') {
      issued++;
      const base = path(`${name}-${issued}`);
      const files = { certFile: `${base}.crt`, keyFile: `${base}.key` };
      const alternatives = names.map((one) => `${/^[\d.]+$|:/.test(one) ? 'IP' : 'DNS'}:${one}`).join(',');
      writeFileSync(
        `${base}.ext`,
        `extendedKeyUsage=${usage}\n${names.length === 0 ? '' : `subjectAltName=${alternatives}\n`}`,
      );
      openssl('req', '-new', ...newKey, '-keyout', files.keyFile, '-out', `${base}.csr`, '-subj', `/CN=${commonName}`);
      openssl(
        ...['x509', '-req', '-in', `${base}.csr`, '-CA', certFile, '-CAkey', keyFile, '-CAcreateserial'],
        ...['-out', files.certFile, '-days', '1', '-extfile', `${base}.ext`],
      );
      return { ...files, certPem: readFileSync(files.certFile, 'utf8'), keyPem: readFileSync(files.keyFile, 'utf8') };
    },
    renewed() {
      const file = path(`${name}-renewed.crt`);
      openssl('req', '-x509', '-new', '-key', keyFile, '-out', file, ...itself);
      return readFileSync(file, 'utf8');
    },
  };
}
