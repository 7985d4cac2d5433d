// How service-account tokens are issued and verified: what the options say, and for what they leave open a key of this
// server's own, made once and kept in the data directory. Reads the operator's key files, so that a bad one stops the start.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ServiceAccountIssuer } from '../../actors/auth/authenticators/service-account-tokens.ts';
import { tokenKey } from '../../api/tokens/jwt.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { ServerOptions } from '../../config/options.ts';
import { messageOf } from '../../runtime/errors.ts';
import { operatorText, unusableFile } from '../files/operator-file.ts';
import { keptSecret } from './data-directory.ts';

const KEY_FILE = 'service-account.key';
/** What errors call the files. */
const WHAT = 'the service-account key file';
const PRIVATE_KEY = 'private key';

/** The issuer that the options describe. `serverAddress` is `host:port`. Throws BadConfiguration for a file of no use. */
export async function serviceAccountIssuer(
  options: ServerOptions,
  directory: string,
  serverAddress: string,
): Promise<ServiceAccountIssuer> {
  const {
    serviceAccountIssuer: named,
    serviceAccountKeyFile: keyFiles,
    serviceAccountSigningKeyFile: signingFile,
  } = options;
  const issuer = named || `https://${DIALECTS[options.apiDialect].brand}.default.svc`;
  const isOwn = signingFile === '' && keyFiles.length === 0;
  return {
    issuer,
    audiences: options.apiAudiences.length === 0 ? [issuer] : options.apiAudiences,
    signingKeyPem: isOwn ? await ownKey(directory) : signingFile === '' ? '' : signingKey(signingFile),
    verificationKeyPems:
      keyFiles.length === 0 ? servingKeys(options.tlsPrivateKeyFile) : keyFiles.flatMap(verificationKeys),
    keySetUri: options.serviceAccountJwksUri || `https://${serverAddress}/openid/v1/jwks`,
    expirationSecondsMax: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000),
    extendsExpiration: options.serviceAccountExtendTokenExpiration,
    looksUpSecrets: options.serviceAccountLookup,
  };
}

/** What to tell whoever starts servers on one store: their tokens hold at this one only. Undefined when there is nothing. */
export function unsharedKeys(options: ServerOptions): string | undefined {
  const { storeServers, serviceAccountKeyFile, serviceAccountSigningKeyFile } = options;
  if (storeServers.length === 0 || serviceAccountSigningKeyFile !== '' || serviceAccountKeyFile.length > 0)
    return undefined;
  return (
    "the key of service accounts is this data directory's own: servers that share --store-servers need " +
    'the same --service-account-key-file and --service-account-signing-key-file'
  );
}

/** Throws BadConfiguration for a file of the operator's, or one kept in the data folder, that is of no use. Makes nothing. */
export function checkServiceAccountKeys({
  dataDir,
  serviceAccountKeyFile,
  serviceAccountSigningKeyFile: signingFile,
}: ServerOptions): void {
  if (signingFile !== '') signingKey(signingFile);
  serviceAccountKeyFile.forEach(verificationKeys);
  const own = join(resolve(dataDir), KEY_FILE);
  const isUsed = signingFile === '' && serviceAccountKeyFile.length === 0 && existsSync(own);
  // One with nothing in it is made anew.
  if (isUsed && statSync(own).size > 0) signingKey(own);
}

/** Throws BadConfiguration where the file holds something else: another key in its place would end all tokens that were issued. */
async function ownKey(directory: string): Promise<string> {
  const pem = await keptSecret(directory, KEY_FILE, newKey);
  requireKey(join(directory, KEY_FILE), PRIVATE_KEY, () => createPrivateKey(pem));
  return pem;
}

/** Elliptic, because such a key is made in no time. */
function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function signingKey(path: string): string {
  const pem = operatorText(path, WHAT);
  requireKey(path, PRIVATE_KEY, () => createPrivateKey(pem));
  return pem;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;

/** The public halves of all keys and certificates in a file. */
function verificationKeys(path: string): string[] {
  const blocks = [...operatorText(path, WHAT).matchAll(BLOCK)].filter(([, label]) => label !== 'EC PARAMETERS');
  if (blocks.length === 0) throw unusableFile(path, WHAT, 'holds no PEM block');
  return blocks.map(([pem]) => {
    const key = requireKey(path, 'key or certificate', () => createPublicKey(pem));
    return key.export({ type: 'spki', format: 'pem' }).toString();
  });
}

/** The serving key stands in where no file is named, if tokens can be signed with its kind: one of Ed25519 serves, and is no reason to refuse. */
function servingKeys(path: string): string[] {
  try {
    return path === '' ? [] : verificationKeys(path);
  } catch {
    return [];
  }
}

function requireKey(path: string, wanted: string, read: () => KeyObject): KeyObject {
  const key = keyOf(read);
  if (key === undefined) throw unusableFile(path, WHAT, `holds no ${wanted} that can be read without a passphrase`);
  try {
    tokenKey(key);
    return key;
  } catch (error) {
    throw unusableFile(path, WHAT, messageOf(error));
  }
}

/** Undefined for what is none: the words of OpenSSL name its decoder, not the file's mistake. */
function keyOf(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
