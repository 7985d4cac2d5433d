// The file that says how another service is reached and by what credentials: kind Config, as kubectl's (SPEC.md "Webhook
// token authentication": clusters are the remote service, users this server). Reads texts; opening files is the caller's.
import { asList, asObject, asText } from '../../api/json/object-fields.ts';
import { ITEM, misfitIn, type Shape } from '../../api/shape.ts';
import { bundleProblem, pairProblem } from '../tls/certificates.ts';
import { parseYaml } from '../yaml/read.ts';
import type { EgressWay } from './egress.ts';

/** Where PEM texts are from, to be read again; blank for those that stand in the connection file itself. */
interface PemFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** What a service is shown of us. Plain data: it crosses threads. */
export interface ServiceCredentials {
  readonly certPem: string;
  readonly keyPem: string;
  /** Absent: nothing is from a file. */
  readonly files?: PemFiles;
  readonly credentials:
    | { readonly kind: 'none' }
    | { readonly kind: 'token'; readonly token: string }
    /** Read again when it may have changed. */
    | { readonly kind: 'tokenFile'; readonly path: string }
    | { readonly kind: 'basic'; readonly name: string; readonly password: string };
}

/** A service is told nothing of who calls. */
export const NOTHING_SHOWN: ServiceCredentials = { certPem: '', keyPem: '', credentials: { kind: 'none' } };

/** How a service is reached. Plain data: it crosses threads. */
export interface ServiceConnection extends ServiceCredentials {
  /** https, or http where the operator says so. Without a slash at the end. */
  readonly url: string;
  /** Authorities of the service's certificate; empty: those of the host. */
  readonly caPem: string;
  readonly insecure: boolean;
  /** The name the certificate must be for, where it is not that of the address. */
  readonly serverName: string;
  /** The way out to it; absent: straight. */
  readonly way?: EgressWay | undefined;
}

/** Whom services are shown, by the users of a file: `*.example.org` and `*` stand for many. */
export interface CredentialsByService {
  readonly users: Readonly<Record<string, ServiceCredentials>>;
  /** The user of the current context, for services that no user is named after. */
  readonly standard: ServiceCredentials | undefined;
}

export type Pems = Pick<ServiceConnection, 'caPem' | 'certPem' | 'keyPem'>;

/** Why a file cannot be used; names the field, never what stands in it. */
export class ConnectionFileError extends Error {}

const DEPTH_MAX = 32;

/**
 * What is read of a file, and what it must be. A token or an authority that is a number would otherwise count as none: requests without
 * credentials, to whoever has a certificate of the host's authorities.
 */
const FORM: Shape = {
  'current-context': 'string',
  clusters: [
    {
      name: 'string',
      cluster: {
        server: 'string',
        'tls-server-name': 'string',
        'insecure-skip-tls-verify': 'bool',
        'certificate-authority': 'string',
        'certificate-authority-data': 'string',
        'proxy-url': 'string',
      },
    },
  ],
  users: [
    {
      name: 'string',
      user: {
        'client-certificate': 'string',
        'client-certificate-data': 'string',
        'client-key': 'string',
        'client-key-data': 'string',
        token: 'string',
        tokenFile: 'string',
        username: 'string',
        password: 'string',
      },
    },
  ],
  contexts: [{ name: 'string', context: { cluster: 'string', user: 'string' } }],
};
const MUST_BE = { bool: 'a flag', string: 'a text', list: 'a list', object: 'an object' } as const;
const VERSIONS: readonly unknown[] = [undefined, null, '', 'v1'];
const REFUSED_USER_FIELDS: readonly string[] = ['exec', 'auth-provider', 'as', 'as-groups', 'as-user-extra'];

/** How the files are found that a connection file names. */
export interface NamedFiles {
  /** The absolute path of one named relative to the file. */
  readonly resolve: (path: string) => string;
  /** The text of the file at an absolute path. */
  readonly read: (path: string) => string;
}

/** The connection of the file's current context; an `address` that is given stands for its server's. Throws ConnectionFileError. */
export function parseConnectionFile(text: string, named: NamedFiles, address = ''): ServiceConnection {
  const file = fileOf(text);
  const contextName = asText(file['current-context']);
  if (contextName === '') throw new ConnectionFileError('current-context is missing');
  const context = asObject(entryOf(file, 'contexts', contextName).context);
  const cluster = asObject(entryOf(file, 'clusters', asText(context.cluster)).cluster);
  const userName = asText(context.user);
  const user = userName === '' ? {} : asObject(entryOf(file, 'users', userName).user);
  if (asText(cluster['proxy-url']) !== '')
    throw new ConnectionFileError('clusters[].cluster.proxy-url is not supported here');
  const ca = pemOf(cluster, 'certificate-authority', named);
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  // As clients do: nobody is left to guess which of the two holds.
  if (insecure && ca.isGiven)
    throw new ConnectionFileError('clusters[].cluster has both insecure-skip-tls-verify and a certificate-authority');
  // An authority that is none would leave those of the host.
  const problem = ca.isGiven ? bundleProblem(ca.pem) : undefined;
  if (problem !== undefined) throw new ConnectionFileError(`clusters[].cluster.certificate-authority ${problem}`);
  const url = urlOf(address || asText(cluster.server));
  // As clients do: over plain HTTP nobody is shown a token, a password or a certificate.
  const shown = shownOf(new URL(url).protocol === 'https:' ? user : {}, named);
  return {
    url,
    caPem: ca.pem,
    insecure,
    serverName: asText(cluster['tls-server-name']),
    ...shown,
    files: { ...shown.files, ca: ca.path },
  };
}

/**
 * Every user of a file whose users are named after the services they are shown to; its clusters say nothing. Throws
 * ConnectionFileError.
 */
export function parseCredentialsFile(text: string, named: NamedFiles): CredentialsByService {
  const file = fileOf(text);
  const users: Record<string, ServiceCredentials> = Object.create(null) as Record<string, ServiceCredentials>;
  for (const entry of asList(file.users).map(asObject))
    users[asText(entry.name)] = shownOf(asObject(entry.user), named);
  const contextName = asText(file['current-context']);
  const userName = contextName === '' ? '' : asText(asObject(entryOf(file, 'contexts', contextName).context).user);
  if (userName !== '') entryOf(file, 'users', userName);
  return { users, standard: userName === '' ? undefined : users[userName] };
}

function shownOf(
  user: Readonly<Record<string, unknown>>,
  named: NamedFiles,
): ServiceCredentials & { readonly files: PemFiles } {
  for (const field of REFUSED_USER_FIELDS)
    if (user[field] !== undefined) throw new ConnectionFileError(`users[].user.${field} is not supported here`);
  const cert = pemOf(user, 'client-certificate', named);
  const key = pemOf(user, 'client-key', named);
  if (cert.isGiven !== key.isGiven)
    throw new ConnectionFileError('users[].user needs client-certificate and client-key together');
  const pair = { certPem: cert.pem, keyPem: key.pem };
  // A pair that does not match would fail each call.
  const problem = cert.isGiven ? pairProblem(pair) : undefined;
  if (problem !== undefined)
    throw new ConnectionFileError(`users[].user: client-certificate and client-key cannot be used: ${problem}`);
  return { ...pair, files: { ca: '', cert: cert.path, key: key.path }, credentials: credentialsOf(user, named) };
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

/** The whole file, in its form. */
function fileOf(text: string): Readonly<Record<string, unknown>> {
  const file = asObject(parsed(text));
  if (file.kind !== 'Config') throw new ConnectionFileError('kind must be Config');
  if (!VERSIONS.includes(file.apiVersion)) throw new ConnectionFileError('apiVersion must be v1');
  const misfit = misfitIn(file, FORM);
  if (misfit === undefined) return file;
  const place = misfit.steps.reduce(
    (path, step) => (step === ITEM || path === '' ? path + step : `${path}.${step}`),
    '',
  );
  throw new ConnectionFileError(`${place} must be ${MUST_BE[misfit.type]}`);
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
  const { protocol, username, password } = new URL(server);
  if ((protocol !== 'https:' && protocol !== 'http:') || username + password !== '')
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
