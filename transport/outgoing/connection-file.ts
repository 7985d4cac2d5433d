// The file that says how another service is reached and by what credentials: kind Config, as kubectl's (SPEC.md "Webhook
// token authentication": clusters are the remote service, users this server). Reads texts; opening files is the caller's.
import { asList, asObject, asText } from '../../api/object-fields.ts';
import { parseYaml } from '../yaml/read.ts';

/** How a service is reached. Plain data: it crosses threads. */
export interface ServiceConnection {
  /** https, or http where the operator says so. Without a slash at the end. */
  readonly url: string;
  /** Authorities of the service's certificate; empty: those of the host. */
  readonly caPem: string;
  readonly insecure: boolean;
  /** The name the certificate must be for, where it is not that of the address. */
  readonly serverName: string;
  readonly certPem: string;
  readonly keyPem: string;
  readonly credentials:
    | { readonly kind: 'none' }
    | { readonly kind: 'token'; readonly token: string }
    /** Read again when it may have changed. */
    | { readonly kind: 'tokenFile'; readonly path: string }
    | { readonly kind: 'basic'; readonly name: string; readonly password: string };
}

/** Why a file cannot be used; names the field, never what stands in it. */
export class ConnectionFileError extends Error {}

const DEPTH_MAX = 32;
const REFUSED_USER_FIELDS: readonly string[] = ['exec', 'auth-provider', 'as', 'as-groups', 'as-user-extra'];

/**
 * The connection of the file's current context. `readFile` answers the text of a file that the text names, whose path may be
 * relative to it. Throws ConnectionFileError.
 */
export function parseConnectionFile(text: string, readFile: (path: string) => string): ServiceConnection {
  const file = asObject(parsed(text));
  if (asText(file.kind) !== 'Config') throw new ConnectionFileError('kind must be Config');
  const contextName = asText(file['current-context']);
  if (contextName === '') throw new ConnectionFileError('current-context is missing');
  const context = asObject(named(file, 'contexts', contextName).context);
  const cluster = asObject(named(file, 'clusters', asText(context.cluster)).cluster);
  const userName = asText(context.user);
  const user = userName === '' ? {} : asObject(named(file, 'users', userName).user);
  for (const field of REFUSED_USER_FIELDS)
    if (user[field] !== undefined) throw new ConnectionFileError(`users[].user.${field} is not supported here`);
  if (asText(cluster['proxy-url']) !== '')
    throw new ConnectionFileError('clusters[].cluster.proxy-url is not supported here');
  const pemOf = (object: Readonly<Record<string, unknown>>, field: string): string => {
    const data = asText(object[`${field}-data`]);
    if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
    const path = asText(object[field]);
    return path === '' ? '' : readFile(path);
  };
  const [certPem, keyPem] = [pemOf(user, 'client-certificate'), pemOf(user, 'client-key')];
  if ((certPem === '') !== (keyPem === ''))
    throw new ConnectionFileError('users[].user needs client-certificate and client-key together');
  return {
    url: urlOf(asText(cluster.server)),
    caPem: pemOf(cluster, 'certificate-authority'),
    insecure: cluster['insecure-skip-tls-verify'] === true,
    serverName: asText(cluster['tls-server-name']),
    certPem,
    keyPem,
    credentials: credentialsOf(user),
  };
}

function parsed(text: string): unknown {
  try {
    return parseYaml(text, DEPTH_MAX);
  } catch {
    throw new ConnectionFileError('the file is neither YAML nor JSON');
  }
}

function named(file: Readonly<Record<string, unknown>>, list: string, name: string): Readonly<Record<string, unknown>> {
  const found = asList(file[list])
    .map(asObject)
    .find((entry) => entry.name === name);
  if (found === undefined) throw new ConnectionFileError(`${list} has no ${JSON.stringify(name)}`);
  return found;
}

function urlOf(server: string): string {
  if (!URL.canParse(server)) throw new ConnectionFileError('clusters[].cluster.server is not an address');
  const { protocol, username } = new URL(server);
  if ((protocol !== 'https:' && protocol !== 'http:') || username !== '')
    throw new ConnectionFileError('clusters[].cluster.server must be an https address');
  return server.replace(/\/+$/, '');
}

function credentialsOf(user: Readonly<Record<string, unknown>>): ServiceConnection['credentials'] {
  const [token, path, name] = [asText(user.token), asText(user.tokenFile), asText(user.username)];
  // As clients do: the file goes before the token.
  if (path !== '') return { kind: 'tokenFile', path };
  if (token !== '') return { kind: 'token', token };
  if (name !== '') return { kind: 'basic', name, password: asText(user.password) };
  return { kind: 'none' };
}
