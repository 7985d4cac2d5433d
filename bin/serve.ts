// `orch up` and `orch apiserver`: read the options, prepare the data directory, start the threads, print where the server
// is, and stop on a signal. The order of a stop is the supervisor's.
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseTokenFile, type TokenEntry, tokenDigest } from '../actors/auth/authenticators/token-file.ts';
import { PENDING_HOOKS_METRIC } from '../actors/controllers/protocol.ts';
import type { ServerSettings } from '../actors/server-settings.ts';
import { registryFor } from '../actors/thread-registry.ts';
import { DIALECTS } from '../config/dialect.ts';
import type { ResourceEncryption } from '../config/encryption-configuration.ts';
import { helpText } from '../config/help.ts';
import { NO_SCHEDULER } from '../config/options/scheduler.ts';
import type { ServerOptions, UpOptions } from '../config/options.ts';
import { parseArguments } from '../config/parse.ts';
import { OrchError } from '../runtime/errors.ts';
import type { LogOptions } from '../runtime/log.ts';
import { type Plan, planWithout } from '../runtime/plan.ts';
import { summarizePlan } from '../runtime/plan-format.ts';
import { type Supervisor, startSupervisor } from '../runtime/supervisor.ts';
import { isStoreDamage } from '../storage/store-damage.ts';
import { HEADER_BYTES_MAX } from '../transport/http.ts';
import { kubeconfigText } from '../transport/outgoing/kubeconfig.ts';
import { type KeyPair, loadKeyPair, selfSignedKeyPair } from '../transport/tls/material.ts';
import { probeAddress } from '../transport/uws/address-probe.ts';
import { prepareUws } from '../transport/uws/binary.ts';
import { closeDirectory } from './closed-directory.ts';
import { adminToken, claimDirectory, openDataDirectory, writeKubeconfig } from './data-directory.ts';
import { agentTls } from './node-agents.ts';
import { planFor } from './placement.ts';
import { policyText } from './policy-file.ts';
import { serviceAccountIssuer } from './service-accounts.ts';
import { buildInfo, versionText } from './version.ts';

/** The actors that the threads host, as the threads find it. */
const ROSTER_URL = new URL('../actors/roster.js', import.meta.url).href;
const READY_CHECK_MS = 10;
const ADMIN = { name: 'orch-admin', uid: '', groups: ['system:masters'], extra: {} };

/** `orch up`: everything in one process, closed to all but the admin. */
export function up(argv: readonly string[]): Promise<void> {
  return serve('up', argv);
}

/** `orch apiserver`: the same server under SPEC.md's own flags and defaults. */
export function apiserver(argv: readonly string[]): Promise<void> {
  return serve('apiserver', argv);
}

/**
 * Runs a server until a signal ends it. `rosterUrl`: a module that exports `roster`, for a server with other actors.
 * Throws UsageError, and OrchError for what keeps it from starting.
 */
export async function serve(
  program: 'up' | 'apiserver',
  argv: readonly string[],
  rosterUrl: string = ROSTER_URL,
): Promise<void> {
  const parsed = parseArguments(program, argv);
  if (parsed.action !== 'run') {
    process.stdout.write(`${parsed.action === 'help' ? helpText(program) : versionText()}\n`);
    return;
  }
  const { options, warnings, standing } = parsed;
  for (const warning of warnings) warn(warning);
  registryFor({ dialect: options.apiDialect, options });
  const schedulerName = schedulerNameOf(program, options);
  const placed = planFor(options.placement);
  // A placement that names the scheduler serves without one too.
  const plan = schedulerName === undefined ? planWithout(placed, 'scheduler') : placed;
  for (const warning of plan.warnings) warn(warning);
  refuseSharedNodePort(options, plan);
  const directory = openDataDirectory(options.dataDir);
  const release = claimDirectory(directory);
  let supervisor: Supervisor | undefined;
  try {
    const closed = closeDirectory(directory);
    if (closed !== undefined) warn(closed);
    // Before anything is made: the threads would find it taken when the store is open already.
    if (!options.permitPortSharing) await probeAddress(options.bindAddress, options.securePort);
    const { settings, kubeconfig, url } = await prepare(options, directory, schedulerName ?? '');
    prepareUws(HEADER_BYTES_MAX);
    supervisor = await startSupervisor({
      plan,
      rosterUrl,
      options: settings,
      log: logOptions(options),
    });
    const stopped = stopOnSignal(supervisor, options.shutdownDelayDurationMs, release);
    await supervisor.ready;
    // A start that fails has more important things to say.
    if (standing !== undefined) warn(standing);
    // Not sooner: a start that fails leaves the file of the server that was here before as it is.
    const kubeconfigPath = writeKubeconfig(directory, kubeconfig);
    process.stdout.write(`address ${url}\nkubeconfig ${kubeconfigPath}\nplacement ${summarizePlan(plan)}\n`);
    await startHooksDone(supervisor, plan);
    process.stdout.write(`ready in ${Math.round(performance.now())} ms\n`);
    await stopped;
  } catch (error) {
    // Threads that live on would turn the exit into an abort.
    await supervisor?.stop();
    release();
    if (!isStoreDamage(error)) throw error;
    throw new OrchError('StoreUnusable', `${error.message}; see orch store check ${directory}`);
  }
}

function warn(text: string): void {
  process.stderr.write(`warning: ${text}\n`);
}

/** Node's own listener cannot listen on one port from several threads. */
function refuseSharedNodePort({ ingress }: ServerOptions, plan: Plan): void {
  const ingresses = plan.threads.flatMap(({ actors }) => actors).filter(({ actor }) => actor === 'ingress').length;
  if (ingress !== 'node' || ingresses < 2) return;
  throw new OrchError(
    'BadConfiguration',
    `the placement ${plan.name} has ${ingresses} ingresses, and --ingress node can serve a port from one thread only`,
  );
}

/** Until then the namespaces every client counts on may not be there. */
async function startHooksDone(supervisor: Supervisor, plan: Plan): Promise<void> {
  if (!plan.threads.some(({ actors }) => actors.some(({ actor }) => actor === 'controllers'))) return;
  for (;;) {
    const families = (await supervisor.metrics()).flat();
    if (families.some(({ name, series }) => name === PENDING_HOOKS_METRIC && series[0]?.value === 0)) return;
    await sleep(READY_CHECK_MS);
  }
}

interface Prepared {
  readonly settings: ServerSettings;
  /** The admin's, as text. */
  readonly kubeconfig: string;
  readonly url: string;
}

async function prepare(options: ServerOptions, directory: string, schedulerName: string): Promise<Prepared> {
  const advertiseAddress = options.advertiseAddress || advertised(options.bindAddress);
  const pair = await servingPair(options, directory, advertiseAddress);
  const token = await adminToken(directory);
  const encryption = await encryptionOf(options);
  const tokens: TokenEntry[] = [{ digest: tokenDigest(token), user: ADMIN }, ...fileTokens(options)];
  const host = isUnspecified(options.bindAddress) ? '127.0.0.1' : options.bindAddress;
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${options.securePort}`;
  const publicHost = options.externalHostname || advertiseAddress;
  const names = { user: ADMIN.name, cluster: 'orch', context: 'orch' };
  const kubeconfig = kubeconfigText({ server: url, caPem: pair.certPem, token, ...names });
  const settings: ServerSettings = {
    dialect: options.apiDialect,
    options,
    dataDirectory: directory,
    storeEngine: options.storeEngine,
    ...(encryption === undefined ? {} : { encryption }),
    tls: { certPem: pair.certPem, keyPem: pair.keyPem, ...minTlsVersion(options) },
    caPem: pair.certPem,
    tokens,
    abacPolicy: policyText(options.authorizationPolicyFile, DIALECTS[options.apiDialect]),
    serviceAccounts: await serviceAccountIssuer(options, directory, `${publicHost}:${options.securePort}`),
    nodeAgentTls: agentTls(options),
    advertiseAddress,
    build: buildInfo(),
    startedWallMs: Math.round(performance.timeOrigin),
    schedulerName,
  };
  return { settings, kubeconfig, url };
}

/** Undefined where nothing is encrypted. Throws OrchError BadConfiguration. */
async function encryptionOf({
  encryptionProviderConfig,
  apiDialect,
}: ServerOptions): Promise<readonly ResourceEncryption[] | undefined> {
  if (encryptionProviderConfig === '') return undefined;
  const { readEncryptionFile } = await import('./encryption-file.ts');
  return readEncryptionFile(encryptionProviderConfig, DIALECTS[apiDialect]);
}

/** The operator's pair, or one of our own. Clients trust the certificate itself. */
function servingPair(options: ServerOptions, directory: string, advertiseAddress: string): Promise<KeyPair> {
  const { tlsCertFile, tlsPrivateKeyFile, certDir, externalHostname, bindAddress } = options;
  if (tlsCertFile !== '') return loadKeyPair(tlsCertFile, tlsPrivateKeyFile);
  const names = [externalHostname, bindAddress, advertiseAddress].filter((name) => !isUnspecified(name));
  return selfSignedKeyPair(certDir === '' ? join(directory, 'pki') : resolve(certDir), names);
}

function fileTokens({ tokenAuthFile }: ServerOptions): TokenEntry[] {
  if (tokenAuthFile === '') return [];
  try {
    return parseTokenFile(readFileSync(tokenAuthFile, 'utf8'), tokenAuthFile);
  } catch (error) {
    if (error instanceof OrchError) throw error;
    throw new OrchError(
      'BadConfiguration',
      `the token file ${tokenAuthFile} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

function minTlsVersion({ tlsMinVersion }: ServerOptions): { minVersion: 'TLSv1.2' | 'TLSv1.3' } {
  if (tlsMinVersion === 'VersionTLS13') return { minVersion: 'TLSv1.3' };
  return { minVersion: 'TLSv1.2' };
}

/** Undefined where this process schedules nothing: `apiserver`, and `up` when told so. */
function schedulerNameOf(program: 'up' | 'apiserver', options: ServerOptions): string | undefined {
  if (program === 'apiserver') return undefined;
  const { schedulerName } = options as UpOptions;
  return schedulerName === NO_SCHEDULER ? undefined : schedulerName;
}

/** A server bound to every address advertises the first of its own that others can reach. */
function advertised(bindAddress: string): string {
  if (!isUnspecified(bindAddress)) return bindAddress;
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { address, family, internal } of addresses ?? []) if (!internal && family === 'IPv4') return address;
  }
  return '127.0.0.1';
}

function isUnspecified(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}

const VERBOSITY_LEVELS = ['info', 'info', 'info', 'info', 'debug', 'debug'] as const;

function logOptions({ v, loggingFormat }: ServerOptions): LogOptions {
  return { level: VERBOSITY_LEVELS[v] ?? 'trace', format: loggingFormat === 'json' ? 'json' : 'text' };
}

/**
 * Resolves when a signal has stopped everything. A second signal ends the process at once, and as if nobody had caught it:
 * an exit while threads with native sockets live is an abort.
 */
function stopOnSignal(supervisor: Supervisor, delayMs: number, release: () => void): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) {
        release();
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
        return;
      }
      stopping = true;
      supervisor.drain();
      setTimeout(() => {
        supervisor.stop().then(
          () => {
            release();
            resolve();
            process.exit(0);
          },
          (error: unknown) => {
            process.stderr.write(`orch: ${error instanceof Error ? error.message : String(error)}\n`);
            release();
            process.exit(1);
          },
        );
      }, delayMs);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
