// The file of `--encryption-provider-config`: an EncryptionConfiguration as a plain value becomes settings, or is refused
// with the path of what is wrong. Never says what a secret is. Reading the file is bin/files/encryption-file.ts's work.

import { parseDurationMs } from '../values/duration.ts';
import { decodePercent } from '../values/percent.ts';
import { ConfigurationError, filledListOf, membersOf, requireText } from './configuration-file.ts';
import type { Dialect } from './dialect.ts';

/** Providers that encrypt with keys of the file. */
export type KeyedKind = 'aescbc' | 'aesgcm' | 'secretbox';

export interface NamedKey {
  readonly name: string;
  readonly secret: Uint8Array;
}

/** One way of keeping values; the first of a resource writes, all of them read. */
export type EncryptionProvider =
  | { readonly kind: 'identity' }
  | { readonly kind: KeyedKind; readonly keys: readonly NamedKey[] }
  | KmsProvider;

export interface KmsProvider {
  readonly kind: 'kms';
  readonly name: string;
  /** Of the plugin's socket; begins with a zero byte where it is in Linux's abstract namespace. */
  readonly socketPath: string;
  /** Data keys kept decrypted; 0: none. */
  readonly cacheSize: number;
  readonly timeoutMs: number;
}

export interface ResourceEncryption {
  /** `secrets`, `deployments.apps`. */
  readonly resources: readonly string[];
  readonly providers: readonly EncryptionProvider[];
}

const KEY_BYTES: Readonly<Record<KeyedKind, readonly number[]>> = {
  aescbc: [16, 24, 32],
  aesgcm: [16, 24, 32],
  secretbox: [32],
};
const KEYED_KINDS = Object.keys(KEY_BYTES) as readonly KeyedKind[];
const PROVIDER_KINDS: readonly string[] = ['identity', ...KEYED_KINDS, 'kms'];
const RESOURCE = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$/;
/** Stands between colons before every value. */
const PROVIDER_NAME = /^[^\s:]{1,253}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const ENDPOINT = /^unix:\/\/(\/[^?#]+)$/;
/** Longer paths do not fit a socket's address. */
const SOCKET_PATH_BYTES_MAX = 107;
const KMS_CACHE_SIZE_DEFAULT = 1000;
const KMS_CACHE_SIZE_MAX = 2 ** 31 - 1;
const KMS_TIMEOUT_MS_DEFAULT = 3000;
const KMS_TIMEOUT_MS_MAX = 3_600_000;

/** What the file was called when it was new; files of that time are read. */
const FORMER = { kind: 'EncryptionConfig', apiVersion: 'v1' };

/** The settings a file's content says. Throws ConfigurationError. */
export function readEncryptionConfiguration(content: unknown, dialect: Dialect): readonly ResourceEncryption[] {
  const file = membersOf(content, '', ['kind', 'apiVersion', 'resources'], 'an EncryptionConfiguration');
  if (file.kind !== FORMER.kind || file.apiVersion !== FORMER.apiVersion) {
    requireText(file, 'kind', 'EncryptionConfiguration');
    requireText(file, 'apiVersion', dialect.spell('apiserver.config.@group/v1'));
  }
  const entries = filledListOf(file.resources, 'resources').map((entry, index) =>
    readEntry(entry, `resources[${index}]`),
  );
  refuseSharedPrefixes(entries);
  return entries;
}

function readEntry(entry: unknown, path: string): ResourceEncryption {
  const members = membersOf(entry, path, ['resources', 'providers']);
  const resources = filledListOf(members.resources, `${path}.resources`).map((resource, index) => {
    if (typeof resource === 'string' && RESOURCE.test(resource)) return resource;
    throw new ConfigurationError(
      `${path}.resources[${index}]`,
      'must be a resource, such as secrets or deployments.apps',
    );
  });
  const providers = filledListOf(members.providers, `${path}.providers`).map((provider, index) =>
    readProvider(provider, `${path}.providers[${index}]`),
  );
  return { resources, providers };
}

function readProvider(provider: unknown, path: string): EncryptionProvider {
  const members = membersOf(provider, path, PROVIDER_KINDS);
  const [kind, ...others] = Object.keys(members);
  if (kind === undefined) throw new ConfigurationError(path, `must name a provider: ${PROVIDER_KINDS.join(', ')}`);
  if (others.length > 0) {
    throw new ConfigurationError(
      path,
      `must name one provider, not ${Object.keys(members).length}: ${kind}, ${others.join(', ')}`,
    );
  }
  const inner = `${path}.${kind}`;
  if (kind === 'kms') return readKms(members.kms, inner);
  if (kind === 'identity') {
    membersOf(members.identity, inner, []);
    return { kind: 'identity' };
  }
  return readKeyed(kind as KeyedKind, members[kind], inner);
}

function readKeyed(kind: KeyedKind, value: unknown, path: string): EncryptionProvider {
  const names = new Set<string>();
  const keys = filledListOf(membersOf(value, path, ['keys']).keys, `${path}.keys`).map((key, index): NamedKey => {
    const at = `${path}.keys[${index}]`;
    const members = membersOf(key, at, ['name', 'secret']);
    const name = readName(members.name, `${at}.name`);
    if (names.has(name))
      throw new ConfigurationError(`${at}.name`, `${JSON.stringify(name)} is the name of another key`);
    names.add(name);
    return { name, secret: readSecret(members.secret, `${at}.secret`, KEY_BYTES[kind]) };
  });
  return { kind, keys };
}

function readSecret(value: unknown, path: string, sizes: readonly number[]): Uint8Array {
  if (value === undefined || value === null || value === '') throw new ConfigurationError(path, 'is required');
  if (typeof value !== 'string' || !BASE64.test(value)) throw new ConfigurationError(path, 'must be base64');
  const secret = Uint8Array.from(Buffer.from(value, 'base64'));
  if (sizes.includes(secret.length)) return secret;
  throw new ConfigurationError(
    path,
    `must be ${sizes.join(', ').replace(/, (\d+)$/, ' or $1')} bytes long, not ${secret.length}`,
  );
}

function readKms(value: unknown, path: string): KmsProvider {
  const members = membersOf(value, path, ['name', 'endpoint', 'cachesize', 'timeout']);
  return {
    kind: 'kms',
    name: readName(members.name, `${path}.name`),
    socketPath: readEndpoint(members.endpoint, `${path}.endpoint`),
    cacheSize: readCacheSize(members.cachesize, `${path}.cachesize`),
    timeoutMs: readTimeout(members.timeout, `${path}.timeout`),
  };
}

function readEndpoint(value: unknown, path: string): string {
  if (value === undefined || value === null || value === '') throw new ConfigurationError(path, 'is required');
  const match = typeof value === 'string' ? ENDPOINT.exec(value) : null;
  const decoded = match === null ? undefined : decodePercent(match[1]!);
  if (decoded === undefined) throw new ConfigurationError(path, 'must be a socket, such as unix:///var/run/kms.sock');
  const socketPath = decoded.startsWith('/@') ? `\0${decoded.slice(2)}` : decoded;
  if (Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX) return socketPath;
  throw new ConfigurationError(path, `must have a path of at most ${SOCKET_PATH_BYTES_MAX} bytes`);
}

function readCacheSize(value: unknown, path: string): number {
  if (value === undefined || value === null) return KMS_CACHE_SIZE_DEFAULT;
  if (typeof value === 'number' && Number.isInteger(value) && value !== 0 && Math.abs(value) <= KMS_CACHE_SIZE_MAX)
    return Math.max(value, 0);
  throw new ConfigurationError(path, 'must be a positive integer, or a negative one for no cache');
}

function readTimeout(value: unknown, path: string): number {
  if (value === undefined || value === null) return KMS_TIMEOUT_MS_DEFAULT;
  const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
  if (ms !== undefined && ms > 0 && ms <= KMS_TIMEOUT_MS_MAX) return ms;
  throw new ConfigurationError(path, 'must be a positive duration of at most 1h, such as 3s');
}

function readName(value: unknown, path: string): string {
  if (value === undefined || value === null || value === '') throw new ConfigurationError(path, 'is required');
  if (typeof value === 'string' && PROVIDER_NAME.test(value)) return value;
  throw new ConfigurationError(path, 'must be a text of at most 253 characters without colons and blanks');
}

/** A resource may be in several entries; two ways of writing that look the same when read may not be among them. */
function refuseSharedPrefixes(entries: readonly ResourceEncryption[]): void {
  const seen = new Map<string, string>();
  entries.forEach(({ resources, providers }, entry) => {
    for (const resource of new Set(resources)) {
      providers.forEach((provider, index) => {
        for (const name of namesOf(provider)) {
          const path = `resources[${entry}].providers[${index}].${provider.kind}`;
          const same = `${resource} ${provider.kind} ${name}`;
          const other = seen.get(same);
          const what = name === '' ? 'is' : `${JSON.stringify(name)} is`;
          if (other !== undefined)
            throw new ConfigurationError(path, `${what} a provider of ${resource} already, as ${other}`);
          seen.set(same, path);
        }
      });
    }
  });
}

function namesOf(provider: EncryptionProvider): readonly string[] {
  if (provider.kind === 'identity') return [''];
  return provider.kind === 'kms' ? [provider.name] : provider.keys.map(({ name }) => name);
}
