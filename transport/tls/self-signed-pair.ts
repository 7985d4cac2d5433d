// The server's own certificate and key, where the operator gives none: a self-signed pair that is made once and kept in a
// directory. Owns those two files.
import { X509Certificate } from 'node:crypto';
import { chmod, readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { messageOf, OrchError } from '../../runtime/errors.ts';
import { makeFolder } from '../../runtime/files/make-folder.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { KeyPair } from '../http.ts';
import { pairProblem } from './certificates.ts';
import type { PairFiles } from './material-files.ts';
import { makeSelfSigned, subjectAltName } from './self-signed.ts';

const CERT_FILE = 'apiserver.crt';
const KEY_FILE = 'apiserver.key';

/** What the system says of files that are not there; whether they can be made shows when they are. */
const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/** What group and others may do with a file. */
const OTHERS = 0o077;

const VALID_YEARS = 10;

/** A pair that has less than this left is made again at start: a server may run for long. */
const RENEW_BEFORE_MS = 30 * 24 * 3600 * 1000;

/** A client whose clock is behind still accepts a new certificate. */
const BACKDATED_MS = 3600 * 1000;

/**
 * The files of the self-signed pair kept in `directory`, which is made when it is missing. The certificate is its own
 * authority and is for localhost, its addresses, this host's name, and `extraNames` (DNS names or IP addresses). It is made
 * again when the files are damaged or do not match, when it has expired or soon will, and when the names have changed. A pair
 * of another authority that somebody put there is used as it is. `alone`: does work while no other process makes a pair in the
 * directory, where several may. Rejects with BadConfiguration, also for files that cannot be read.
 */
export async function selfSignedPair(
  directory: string,
  extraNames: readonly string[] = [],
  alone: (work: () => Promise<void>) => Promise<void> = (work) => work(),
): Promise<PairFiles> {
  const files = { certFile: join(directory, CERT_FILE), keyFile: join(directory, KEY_FILE) };
  const names = [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...extraNames])];
  if (await isKept(files, names)) return files;
  await alone(async () => {
    // Another may have made it meanwhile.
    if (!(await isKept(files, names))) await keep(directory, files, await newPair(names));
  });
  return files;
}

async function isKept(files: PairFiles, names: readonly string[]): Promise<boolean> {
  const kept = await readKept(files);
  if (kept === undefined || !isUsable(kept, names, Date.now())) return false;
  await closeKey(files.keyFile);
  return true;
}

function newPair(names: readonly string[]): Promise<KeyPair> {
  const now = Date.now();
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + VALID_YEARS);
  return makeSelfSigned({
    commonName: `${hostname().slice(0, 40)}@${Math.floor(now / 1000)}`,
    names,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter,
  });
}

function isUsable(pair: KeyPair, names: readonly string[], nowMs: number): boolean {
  if (pairProblem(pair) !== undefined) return false;
  const certificate = new X509Certificate(pair.certPem);
  if (!certificate.checkIssued(certificate)) return true;
  const isCurrent =
    nowMs >= Date.parse(certificate.validFrom) && nowMs + RENEW_BEFORE_MS < Date.parse(certificate.validTo);
  return isCurrent && certificate.raw.includes(subjectAltName(names));
}

async function readKept({ certFile, keyFile }: PairFiles): Promise<KeyPair | undefined> {
  try {
    const [certPem, keyPem] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
    return { certPem, keyPem };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && NOT_THERE.has(code)) return undefined;
    // It may be whole, and clients trust it: another in its place would turn all of them away.
    throw new OrchError('BadConfiguration', `${certFile} and ${keyFile} cannot be read (${code})`);
  }
}

/** Takes from group and others what they may do with the key: it was made for its owner alone. */
async function closeKey(keyFile: string): Promise<void> {
  const { mode, uid } = await stat(keyFile);
  if ((mode & OTHERS) === 0) return;
  if (uid !== process.geteuid?.())
    throw new OrchError('BadConfiguration', `${keyFile} belongs to user ${uid} and is open to others`);
  await chmod(keyFile, mode & 0o7777 & ~OTHERS);
}

async function keep(directory: string, { certFile, keyFile }: PairFiles, pair: KeyPair): Promise<void> {
  try {
    makeFolder(directory);
    // On disk before a client is told to trust it. Each is a new file under its name: the mode is the asked one.
    const { disk } = realEnvironment;
    await disk.writeFileAtomic(keyFile, Buffer.from(pair.keyPem), 0o600);
    await disk.writeFileAtomic(certFile, Buffer.from(pair.certPem), 0o644);
  } catch (error) {
    const reason = messageOf(error);
    throw new OrchError('BadConfiguration', `the certificate directory ${directory} cannot be written: ${reason}`);
  }
}
