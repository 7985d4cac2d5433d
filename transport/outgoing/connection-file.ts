// The file that says how another service is reached and by what credentials: kind Config, as kubectl's (SPEC.md "Webhook
// token authentication": clusters are the remote service, users this server). Reads texts; opening files is the caller's.
import { asList, asObject, asText } from '../../api/object-fields.ts';
import { bundleProblem, pairProblem } from '../tls/certificates.ts';
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
  /** Where the PEM texts are from, to be read again; blank for those that stand in the file itself. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly credentials:
    | { readonly kind: 'none' }
    | { readonly kind: 'token'; readonly token: string }
    /** Read again when it may have changed. */
    | { readonly kind: 'tokenFile'; readonly path: string }
    | { readonly kind: 'basic'; readonly name: string; readonly password: string };
}

export type Pems = Pick<ServiceConnection, 'caPem' | 'certPem' | 'keyPem'>;

/** Why a file cannot be used; names the field, never what stands in it. */
export class ConnectionFileError extends Error {}

const DEPTH_MAX = 32;
const REFUSED_USER_FIELDS: readonly string[] = ['exec', 'auth-provider', 'as', 'as-groups', 'as-user-extra'];

/** How the files are found that a connection file names. */
export interface NamedFiles {
  /** The absolute path of one named relative to the file. */
  readonly resolve: (path: string) => string;
  /** The text of the file at an absolute path. */
  readonly read: (path: string) => string;
}

/** The connection of the file's current context. Throws ConnectionFileError. */
export function parseConnectionFile(text: string, named: NamedFiles): ServiceConnection {
  const file = asObject(parsed(text));
  if (asText(file.kind) !== 'Config') throw new ConnectionFileError('kind must be Config');
  const contextName = asText(file['current-context']);
  if (contextName === '') throw new ConnectionFileError('current-context is missing');
  const context = asObject(entryOf(file, 'contexts', contextName).context);
  const cluster = asObject(entryOf(file, 'clusters', asText(context.cluster)).cluster);
  const userName = asText(context.user);
  const user = userName === '' ? {} : asObject(entryOf(file, 'users', userName).user);
  for (const field of REFUSED_USER_FIELDS)
    if (user[field] !== undefined) throw new ConnectionFileError(`users[].user.${field} is not supported here`);
  if (asText(cluster['proxy-url']) !== '')
    throw new ConnectionFileError('clusters[].cluster.proxy-url is not supported here');
  const ca = pemOf(cluster, 'certificate-authority', named);
  const cert = pemOf(user, 'client-certificate', named);
  const key = pemOf(user, 'client-key', named);
  if (cert.isGiven !== key.isGiven)
    throw new ConnectionFileError('users[].user needs client-certificate and client-key together');
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  // As clients do: nobody is left to guess which of the two holds.
  if (insecure && ca.isGiven)
    throw new ConnectionFileError('clusters[].cluster has both insecure-skip-tls-verify and a certificate-authority');
  const pems = { caPem: ca.pem, certPem: cert.pem, keyPem: key.pem };
  requireUsable(pems, { ca, cert });
  return {
    url: urlOf(asText(cluster.server)),
    ...pems,
    insecure,
    serverName: asText(cluster['tls-server-name']),
    files: { ca: ca.path, cert: cert.path, key: key.path },
    credentials: credentialsOf(user, named),
  };
}

/** A PEM text of the file, or of another that it names. */
interface GivenPem {
  readonly isGiven: boolean;
  readonly pem: string;
  /** Blank where it stands in the file itself. */
  readonly path: string;
}

/** As clients do, data goes before a path. */
function pemOf(object: Readonly<Record<string, unknown>>, field: string, { resolve, read }: NamedFiles): GivenPem {
  const data = asText(object[`${field}-data`]);
  if (data !== '') return { isGiven: true, pem: Buffer.from(data, 'base64').toString('utf8'), path: '' };
  const path = asText(object[field]);
  if (path === '') return { isGiven: false, pem: '', path };
  return { isGiven: true, pem: read(resolve(path)), path: resolve(path) };
}

/** An authority that is none would leave those of the host, and a pair that does not match would fail each call. */
function requireUsable(pems: Pems, { ca, cert }: { readonly ca: GivenPem; readonly cert: GivenPem }): void {
  if (ca.isGiven && bundleProblem(pems.caPem) !== undefined)
    throw new ConnectionFileError(`clusters[].cluster.certificate-authority ${bundleProblem(pems.caPem)}`);
  const problem = cert.isGiven ? pairProblem(pems) : undefined;
  if (problem !== undefined)
    throw new ConnectionFileError(`users[].user: client-certificate and client-key cannot be used: ${problem}`);
}

function parsed(text: string): unknown {
  try {
    return parseYaml(text, DEPTH_MAX);
  } catch {
    throw new ConnectionFileError('the file is neither YAML nor JSON');
  }
}

function entryOf(
  file: Readonly<Record<string, unknown>>,
  list: string,
  name: string,
): Readonly<Record<string, unknown>> {
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

function credentialsOf(
  user: Readonly<Record<string, unknown>>,
  { resolve }: NamedFiles,
): ServiceConnection['credentials'] {
  const [token, path, name] = [asText(user.token), asText(user.tokenFile), asText(user.username)];
  if (token + path !== '' && name !== '') throw new ConnectionFileError('users[].user has both a token and a username');
  // As clients do: the file goes before the token.
  if (path !== '') return { kind: 'tokenFile', path: resolve(path) };
  if (token !== '' && !isToken(token)) throw new ConnectionFileError('users[].user.token cannot be sent in a header');
  if (token !== '') return { kind: 'token', token };
  if (name.includes(':')) throw new ConnectionFileError('users[].user.username has a colon');
  if (name !== '') return { kind: 'basic', name, password: asText(user.password) };
  return { kind: 'none' };
}

const TOKEN = /^[\x21-\x7e]+$/;

/** Whether a text can stand for a token in a header (RFC 9110 5.5). */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}
