// The kubeconfig in the data folder, by which the admin reaches the server, and so do its own commands. People point kubectl at it, and
// `kubectl config` then puts entries of theirs into it, sorted by name: the server's go by their names, and theirs stay.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../api/codec/decode.ts';
import { asList, asObject, asText } from '../api/object-fields.ts';
import { OrchError } from '../runtime/errors.ts';
import { type KubeconfigInput, kubeconfigText } from '../transport/outgoing/kubeconfig.ts';
import { believing } from '../transport/tls/certificates.ts';
import { parseYaml } from '../transport/yaml/read.ts';
import { yamlText } from '../transport/yaml/write.ts';
import { atUsualLevel } from '../values/security-level.ts';
import { holdsOneOf } from './data-directory.ts';
import { operatorContent, operatorText } from './operator-file.ts';

const KUBECONFIG_FILE = 'admin.conf';
const DEPTH_MAX = 8;

/** What the server's entries are called. */
export const ADMIN_ENTRIES = { user: 'orch-admin', cluster: 'orch', context: 'orch' } as const;

export interface AdminConnection {
  readonly url: string;
  /** The server's certificate is believed for being in the file, whoever signed it, as kubectl believes it. */
  readonly tls: Pick<SecureContextOptions, 'ca' | 'allowPartialTrustChain' | 'ciphers'>;
  readonly token: string;
}

/** How the admin reaches the server now. */
export type AdminWay = Required<Pick<KubeconfigInput, 'server' | 'caPem' | 'token'>>;

/** Throws BadConfiguration when no server was ever started on the folder, or when the folder cannot be read. */
export function adminConnection(directory: string): AdminConnection {
  const path = join(directory, KUBECONFIG_FILE);
  if (!holdsOneOf(directory, [KUBECONFIG_FILE])) {
    throw new OrchError('BadConfiguration', `no server was started on ${directory}`);
  }
  const content = asObject(operatorContent(path, ''));
  const cluster = asObject(named(content.clusters, ADMIN_ENTRIES.cluster).cluster);
  const url = asText(cluster.server);
  const token = asText(asObject(named(content.users, ADMIN_ENTRIES.user).user).token);
  if (url === '' || token === '') throw new OrchError('BadConfiguration', `${path} names no server and user`);
  const caPem = Buffer.from(asText(cluster['certificate-authority-data']), 'base64').toString();
  return { url, tls: { ...believing(caPem), ciphers: atUsualLevel(DEFAULT_CIPHERS) }, token };
}

/**
 * Writes how the server is reached now into the folder's kubeconfig, whole or not at all, and returns its path. Not synced: every start
 * does it anew. A file in which nothing has to change is left as it is; what in it is no kubeconfig is lost.
 */
export function writeAdminKubeconfig(directory: string, way: AdminWay): string {
  const path = join(directory, KUBECONFIG_FILE);
  const text = wantedText(path, kubeconfigText({ ...way, ...ADMIN_ENTRIES }));
  if (text === undefined) return path;
  const temporary = `${path}.new`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
  return path;
}

/** What the file is to hold; undefined: what it holds. */
function wantedText(path: string, ours: string): string | undefined {
  if (!existsSync(path)) return ours;
  let theirs: JsonObject;
  try {
    if (operatorText(path) === ours) return undefined;
    theirs = asObject(operatorContent(path, ''));
  } catch (error) {
    if (error instanceof OrchError) return ours;
    throw error;
  }
  const own = asObject(parseYaml(ours, DEPTH_MAX));
  const wanted = withOurs(theirs, own);
  if (isDeepStrictEqual(wanted, theirs)) return undefined;
  return isDeepStrictEqual(wanted, own) ? ours : yamlText(wanted);
}

function withOurs(theirs: JsonObject, ours: JsonObject): JsonObject {
  const [ourContext] = asList(ours.contexts).map(asObject);
  // Of the context, the namespace that somebody has chosen stays.
  const chosen = asObject(named(theirs.contexts, ADMIN_ENTRIES.context).context);
  const context = { ...ourContext, context: { ...chosen, ...asObject(ourContext?.context) } };
  const contexts = replaced(theirs.contexts, [context]);
  const current = theirs['current-context'];
  const isThere = contexts.some(({ name }) => name === current);
  return {
    ...ours,
    ...theirs,
    clusters: replaced(theirs.clusters, ours.clusters),
    users: replaced(theirs.users, ours.users),
    contexts,
    'current-context': isThere ? current : ours['current-context'],
  };
}

/** The entries, with ours in the place of those with their names, or behind them all. */
function replaced(theirs: unknown, ours: unknown): readonly JsonObject[] {
  const left = new Map(asList(ours).map((entry) => [asObject(entry).name, asObject(entry)]));
  const entries = asList(theirs).map((entry) => {
    const { name } = asObject(entry);
    const own = left.get(name);
    left.delete(name);
    return own ?? asObject(entry);
  });
  return [...entries, ...left.values()];
}

function named(entries: unknown, name: string): JsonObject {
  return asObject(asList(entries).find((entry) => asObject(entry).name === name));
}
