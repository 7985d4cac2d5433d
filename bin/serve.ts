// `orch up` and `orch apiserver`: read the options, prepare the data directory, start the threads, print where the server
// is, and stop on a signal. The order of a stop is the supervisor's.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROSTER_URL } from '../actors/roster-url.ts';
import { registryFor } from '../actors/thread-registry.ts';
import { helpText } from '../config/help.ts';
import type { UpOptions } from '../config/options.ts';
import { type ParsedArguments, parseArguments } from '../config/parse.ts';
import { messageOf, OrchError } from '../runtime/errors.ts';
import { removeTemporaries } from '../runtime/files/temporary-files.ts';
import { summarizePlan } from '../runtime/placement/plan-format.ts';
import { type Supervisor, startSupervisor } from '../runtime/threads/supervisor.ts';
import { isStoreDamage } from '../storage/engines/store-damage.ts';
import { HEADER_BYTES_MAX } from '../transport/http.ts';
import { probeAddress } from '../transport/uws/address-probe.ts';
import { prepareUws } from '../transport/uws/binary.ts';
import { warn } from './command-line/print-lines.ts';
import { idleEnvironment, idleFields, ignoredFlags } from './files/scheduler-configuration.ts';
import { logSettings, logWarnings } from './log-settings.ts';
import { IN_ITS_PLACE, idleProxy } from './proxy-environment.ts';
import { writeAdminKubeconfig } from './server/admin-kubeconfig.ts';
import { closeDirectory, warnOfOwner } from './server/closed-directory.ts';
import { openDataDirectory } from './server/data-directory.ts';
import { claimDirectory, claimWithoutDatabase } from './server/directory-claim.ts';
import {
  endBy,
  exitAfter,
  type HeardSignals,
  hasTerminal,
  heardSignals,
  ignoreSignals,
  onEnding,
} from './server/heard-signals.ts';
import { serverPlan } from './server/server-plan.ts';
import { prepare, tokenlessLines } from './server/server-settings.ts';
import { unsharedKeys } from './server/service-accounts.ts';
import { missingSuites, untimelyCertificates } from './server/serving-tls.ts';
import { refuseUnfinishedStore } from './server/store-access.ts';
import { type Systemd, systemd } from './server/systemd.ts';
import { optimizeAsUsualOnceWarm, optimizeLate } from './v8-flags.ts';
import { versionText } from './version.ts';

const SETTLED_CHECK_MS = 5;

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
  const { options, standing } = parsed;
  for (const note of notesOf(program, parsed)) warn(note);
  registryFor({ dialect: options.apiDialect, options });
  const { plan, schedulerName } = serverPlan(program, options);
  for (const warning of plan.warnings) warn(warning);
  const directory = openDataDirectory(options.dataDir);
  warnOfOwner(directory);
  const release = await (options.storeServers.length === 0 ? claimDirectory : claimWithoutDatabase)(directory);
  let supervisor: Supervisor | undefined;
  try {
    refuseUnfinishedStore(options, directory);
    const closed = closeDirectory(directory);
    if (closed !== undefined) warn(closed);
    // Secrets may be in them.
    for (const folder of ['', 'pki']) removeTemporaries(join(directory, folder));
    // Before anything is made: the threads would find it taken when the store is open already.
    if (!options.permitPortSharing) await probeAddress(options.bindAddress, options.securePort);
    const { settings, way } = await prepare(options, directory, schedulerName);
    const log = logSettings(options, new Date());
    const signals = heardSignals(log.files !== undefined || !hasTerminal());
    ignoreSignals(signals.ignored);
    prepareUws(HEADER_BYTES_MAX);
    supervisor = await startSupervisor({
      plan,
      rosterUrl,
      options: settings,
      log,
      measuresWaits: options.profiling && options.contentionProfiling,
      followsHeap: options.profiling,
      onCreated: optimizeLate,
    });
    const service = systemd(process.env, warn);
    const stopped = stopOnSignal(signals, supervisor, service, options.shutdownDelayDurationMs, release);
    await supervisor.ready;
    // A start that fails has more important things to say.
    if (standing !== undefined) warn(standing);
    // Not sooner: a start that fails leaves the file of the server that was here before as it is.
    const kubeconfigPath = writeAdminKubeconfig(directory, way);
    process.stdout.write(`address ${way.server}\nkubeconfig ${kubeconfigPath}\nplacement ${summarizePlan(plan)}\n`);
    await untilSettled(supervisor);
    const running = supervisor;
    service.ready(`serving ${way.server}`, () => running.stats());
    await stopped;
  } catch (error) {
    // Threads that live on would turn the exit into an abort.
    await supervisor?.stop();
    release();
    if (!isStoreDamage(error)) throw error;
    throw new OrchError('StoreUnusable', `${error.message}; see orch store check ${directory}`);
  }
}

/** What is to be said of options that a start goes on with. */
function notesOf(
  program: 'up' | 'apiserver',
  { options, warnings, given }: Extract<ParsedArguments<'up' | 'apiserver'>, { action: 'run' }>,
): readonly string[] {
  const { config } = options as UpOptions;
  const ofScheduler =
    program === 'up' ? [ignoredFlags(config, given), idleFields(config, true), idleEnvironment(process.env)] : [];
  const ofFiles = [
    missingSuites(options),
    ...untimelyCertificates(options),
    unsharedKeys(options),
    tokenlessLines(options),
  ];
  const proxy = idleProxy(process.env, IN_ITS_PLACE.server);
  const notes = [...warnings, proxy, ...logWarnings(options), ...ofFiles, ...ofScheduler];
  return notes.filter((note) => note !== undefined);
}

/** Until then the namespaces that every client counts on may not be there, and all that runs is what a start does. */
async function untilSettled(supervisor: Supervisor): Promise<void> {
  while (!(await supervisor.hasSettled())) await sleep(SETTLED_CHECK_MS);
  optimizeAsUsualOnceWarm();
  process.stdout.write(`ready in ${Math.round(performance.now())} ms\n`);
}

/**
 * Resolves when a signal has stopped everything. A second signal ends the process at once, and as if nobody had caught it:
 * an exit while threads with native sockets live is an abort.
 */
function stopOnSignal(
  signals: HeardSignals,
  supervisor: Supervisor,
  service: Systemd,
  delayMs: number,
  release: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      service.stopping();
      supervisor.drain();
      setTimeout(() => {
        supervisor.stop().then(
          () => {
            release();
            resolve();
            exitAfter(signal);
          },
          (error: unknown) => {
            process.stderr.write(`orch: ${messageOf(error)}\n`);
            release();
            process.exit(1);
          },
        );
      }, delayMs);
    };
    onEnding(signals.ending, stop, (signal) => {
      release();
      endBy(signal);
    });
  });
}
