// What a server is started with: reads the operator's files, and makes in the data directory what they leave open, so that a
// file of no use stops the start. Starts nothing.
import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import type { PluginConfigurations } from '../../actors/admission/plugins/plugin.ts';
import {
  linesWithoutToken,
  parseTokenFile,
  type TokenEntry,
  tokenDigest,
} from '../../actors/auth/authenticators/token-file.ts';
import { seatMemory } from '../../actors/ingress/fairness/seats.ts';
import { API_SERVER } from '../../actors/outside/own-service.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { User } from '../../api/authorization/attributes.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { ResourceEncryption } from '../../config/encryption-configuration.ts';
import type { ServerOptions, UpOptions } from '../../config/options.ts';
import { traceSettings } from '../../config/trace-environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { servedKeyspaceMemory } from '../../storage/etcd/served-keyspace.ts';
import { pairOf } from '../../transport/tls/material-files.ts';
import { nameToAskFor } from '../../transport/tls/server-names.ts';
import { bracketed, isEveryAddress } from '../../values/host-text.ts';
import { auditSettings, requireAuditLog } from '../files/audit-files.ts';
import { authMethods, withAuthority } from '../files/auth-methods.ts';
import { egressOf, withControlPlaneWay } from '../files/egress-file.ts';
import { agentTls, agentTlsFiles } from '../files/node-agents.ts';
import { operatorText } from '../files/operator-file.ts';
import { recordSettings, schedulerConfiguration } from '../files/scheduler-configuration.ts';
import { buildInfo } from '../version.ts';
import { ADMIN_ENTRIES, type AdminWay } from './admin-kubeconfig.ts';
import { advertisedAddress } from './advertised-address.ts';
import { adminToken } from './data-directory.ts';
import { serviceAccountIssuer } from './service-accounts.ts';
import { checkOrigins, servingTls } from './serving-tls.ts';
import { signingAuthority } from './signing-authority.ts';
import { storeAccess } from './store-access.ts';

/** Random ones. */
const OWN_TOKEN_BYTES = 32;
const ADMIN = { name: ADMIN_ENTRIES.user, uid: '', groups: ['system:masters'], extra: {} };

interface Prepared {
  readonly settings: ServerSettings;
  readonly way: AdminWay;
}

/** `schedulerName`: blank for none. Throws OrchError BadConfiguration, naming the file that cannot be used. */
export async function prepare(options: ServerOptions, directory: string, schedulerName: string): Promise<Prepared> {
  await checkOrigins(options);
  const advertiseAddress = options.advertiseAddress || advertisedAddress(options.bindAddress, networkInterfaces());
  const names = [options.externalHostname, options.bindAddress, advertiseAddress].filter(
    (name) => !isEveryAddress(name),
  );
  // Before the files of the options are read: it may be one of them.
  const authority = await signingAuthority(directory);
  const { tls, tlsFiles, authorityFiles } = await servingTls(options, directory, names);
  const token = await adminToken(directory);
  const encryption = await encryptionOf(options);
  const store = storeAccess(options, directory);
  const admissionPlugins = await admissionPluginsOf(options);
  const egress = egressOf(options);
  const audit = auditSettings(options);
  requireAuditLog(options);
  const tracing = traceSettings(process.env);
  const host = isEveryAddress(options.bindAddress) ? '127.0.0.1' : options.bindAddress;
  const url = `https://${bracketed(host)}:${options.securePort}`;
  const ownService = { host, port: options.securePort, token: randomBytes(OWN_TOKEN_BYTES).toString('base64url') };
  const tokens = [tokenOf(ADMIN, token), tokenOf(API_SERVER, ownService.token), ...fileTokens(options)];
  const publicHost = options.externalHostname || advertiseAddress;
  const methods = withAuthority(authMethods(options), authority);
  const settings: ServerSettings = {
    dialect: options.apiDialect,
    options,
    dataDirectory: directory,
    storeEngine: options.storeEngine,
    ...(store === undefined ? {} : { storeAccess: store, servedKeyspace: servedKeyspaceMemory() }),
    ...(encryption === undefined ? {} : { encryption }),
    ...(admissionPlugins === undefined ? {} : { admissionPlugins }),
    ...(audit === undefined ? {} : { audit }),
    ...(tracing === undefined ? {} : { tracing }),
    tls,
    tlsFiles,
    authorityFiles,
    // Clients trust the certificate itself.
    caPem: tls.certPem,
    tokens,
    authMethods: methods,
    signingAuthority: authority,
    serviceAccounts: await serviceAccountIssuer(options, directory, `${publicHost}:${options.securePort}`),
    nodeAgentTls: agentTls(options),
    ...shownToServices(options),
    ownService,
    ...(egress === undefined ? {} : { egress }),
    nodeAgentTlsFiles: agentTlsFiles(options),
    requestSeats: seatMemory(),
    advertiseAddress,
    build: buildInfo(),
    startedWallMs: Math.round(performance.timeOrigin),
    schedulerName,
    ...(schedulerName === '' ? {} : { schedulerConfiguration: schedulerConfiguration(options as UpOptions) }),
    ...(schedulerName === '' ? {} : recordOf(options as UpOptions)),
  };
  return {
    settings: withControlPlaneWay(settings, egress?.controlplane),
    way: { server: url, caPem: tls.certPem, serverName: nameToAskFor(tls.certPem, host), token },
  };
}

function tokenOf(user: User, token: string): TokenEntry {
  return { digest: tokenDigest(token), user };
}

/** Nothing where nothing is recorded. */
function recordOf({ schedulingRecord, schedulingRecordBytes }: UpOptions): Pick<ServerSettings, 'schedulingRecord'> {
  const record = recordSettings(schedulingRecord, schedulingRecordBytes);
  return record === undefined ? {} : { schedulingRecord: record };
}

/** The certificate of `--proxy-client-cert-file`, and where it is read again. Throws OrchError BadConfiguration. */
export function shownToServices({
  proxyClientCertFile,
  proxyClientKeyFile,
}: ServerOptions): Pick<ServerSettings, 'shownToServices'> {
  if (proxyClientCertFile === '') return {};
  const given = { certFile: proxyClientCertFile, keyFile: proxyClientKeyFile };
  const pair = pairOf(given, operatorText(proxyClientCertFile), operatorText(proxyClientKeyFile));
  const files = { ca: '', cert: resolve(proxyClientCertFile), key: resolve(proxyClientKeyFile) };
  return { shownToServices: { ...pair, files, credentials: { kind: 'none' } } };
}

/** Undefined where nothing is encrypted. Throws OrchError BadConfiguration. */
export async function encryptionOf({
  encryptionProviderConfig,
  apiDialect,
}: ServerOptions): Promise<readonly ResourceEncryption[] | undefined> {
  if (encryptionProviderConfig === '') return undefined;
  const { readEncryptionFile } = await import('../files/encryption-file.ts');
  return readEncryptionFile(encryptionProviderConfig, DIALECTS[apiDialect]);
}

/** Plugins that start with settings only: without, they would have nobody to ask, or nothing to hold events to. */
const IDLE_WITHOUT_SETTINGS = ['ImagePolicyWebhook', 'EventRateLimit'] as const;

/** Undefined where no file has settings of plugins. Throws OrchError BadConfiguration. */
export async function admissionPluginsOf({
  admissionControlConfigFile: file,
  enableAdmissionPlugins,
  apiDialect,
}: ServerOptions): Promise<PluginConfigurations | undefined> {
  const plugins =
    file === ''
      ? undefined
      : (await import('../files/admission-file.ts')).readAdmissionFile(file, DIALECTS[apiDialect]);
  const bare = IDLE_WITHOUT_SETTINGS.find(
    (plugin) => enableAdmissionPlugins.includes(plugin) && plugins?.[plugin] === undefined,
  );
  if (bare !== undefined)
    throw new OrchError('BadConfiguration', `${bare} needs settings in --admission-control-config-file`);
  return plugins;
}

/** The entries of `--token-auth-file`. Throws OrchError BadConfiguration. */
export function fileTokens({ tokenAuthFile }: ServerOptions): TokenEntry[] {
  if (tokenAuthFile === '') return [];
  return parseTokenFile(operatorText(tokenAuthFile, 'the token file'), tokenAuthFile);
}

/** What is to be said of lines of that file that let nobody in; undefined where there are none, or it is of no use. */
export function tokenlessLines({ tokenAuthFile }: ServerOptions): string | undefined {
  if (tokenAuthFile === '') return undefined;
  let lines: readonly number[];
  try {
    lines = linesWithoutToken(operatorText(tokenAuthFile), tokenAuthFile);
  } catch {
    // Whoever needs its tokens says what is wrong with it.
    return undefined;
  }
  return lines.length === 0
    ? undefined
    : `${tokenAuthFile}:${lines.join(',')}: there is no token, and nobody is let in by it`;
}
