// The kubeconfig in the data folder, by which the admin reaches the server, and so do its own commands (admin-connection.ts). People point
// kubectl at it, and `kubectl config` then puts entries of theirs into it, sorted by name: the server's go by their names, and theirs stay.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../api/codec/decode.ts';
import { asList, asObject } from '../../api/json/object-fields.ts';
import { OrchError } from '../../runtime/errors.ts';
import { type KubeconfigInput, kubeconfigText } from '../../transport/outgoing/kubeconfig.ts';
import { parseYaml } from '../../transport/yaml/read.ts';
import { yamlText } from '../../transport/yaml/write.ts';
import { operatorContent, operatorText } from '../files/operator-file.ts';

export const KUBECONFIG_FILE = 'admin.conf';
const DEPTH_MAX = 8;

/** What the server's entries are called. */
export const ADMIN_ENTRIES = { user: 'orch-admin', cluster: 'orch', context: 'orch' } as const;

/** How the admin reaches the server now. */
export type AdminWay = Required<Pick<KubeconfigInput, 'server' | 'caPem' | 'token'>> &
  Pick<KubeconfigInput, 'serverName'>;

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

/** The entry of that name; empty where there is none. */
export function named(entries: unknown, name: string): JsonObject {
  return asObject(asList(entries).find((entry) => asObject(entry).name === name));
}
