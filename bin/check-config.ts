// `orch check-config`: everything that an operator gives a server, flags and files, looked at without starting it. Each problem is
// a line, so that one run tells all. Changes nothing, and asks nobody else: neither ports nor services.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { registryFor } from '../actors/thread-registry.ts';
import type { ServerOptions, UpOptions } from '../config/options.ts';
import { type ParsedArguments, parseArguments } from '../config/parse.ts';
import { traceSettings } from '../config/trace-environment.ts';
import { UsageError } from '../config/usage-error.ts';
import { errorLine } from './command-line/error-line.ts';
import { asksForHelp } from './command-line/help-flag.ts';
import { warn } from './command-line/print-lines.ts';
import { auditSettings } from './files/audit-files.ts';
import { AUTH_METHOD_PARTS } from './files/auth-methods.ts';
import { egressOf } from './files/egress-file.ts';
import { agentTls } from './files/node-agents.ts';
import { idleEnvironment, idleFields, ignoredFlags } from './files/scheduler-configuration.ts';
import { checkLogPlace, logWarnings } from './log-settings.ts';
import { IN_ITS_PLACE, idleProxy } from './proxy-environment.ts';
import { checkedProfiles, SCHEDULER_CHECKS } from './scheduler/scheduler-checks.ts';
import { checkCertificateFolder } from './server/certificate-folder.ts';
import { refuseForeignDirectory } from './server/closed-directory.ts';
import { type ServerPlan, serverPlan } from './server/server-plan.ts';
import {
  admissionPluginsOf,
  encryptionOf,
  fileTokens,
  shownToServices,
  tokenlessLines,
} from './server/server-settings.ts';
import { checkServiceAccountKeys, unsharedKeys } from './server/service-accounts.ts';
import {
  checkListener,
  checkOrigins,
  checkServingTls,
  missingSuites,
  untimelyCertificates,
} from './server/serving-tls.ts';
import { checkSigningAuthority } from './server/signing-authority.ts';
import { refuseUnfinishedStore, storeAccess } from './server/store-access.ts';
import { requireFile, requireFolder } from './writable-places.ts';

type ServerProgram = 'up' | 'apiserver';
type CheckedProgram = ServerProgram | 'scheduler';
type Run = Extract<ParsedArguments<CheckedProgram>, { action: 'run' }>;
const PROGRAMS: readonly string[] = ['up', 'apiserver', 'scheduler'] satisfies readonly CheckedProgram[];

/** Looks at one thing that a start would need. Throws what the start would; of a plan the warnings are told. */
type Check = (options: ServerOptions, program: ServerProgram) => unknown;

const CHECKS: readonly Check[] = [
  (options) => registryFor({ dialect: options.apiDialect, options }),
  (options, program) => serverPlan(program, options),
  (options, program) => program === 'up' && checkedProfiles(options as UpOptions),
  (options) => fileTokens(options),
  ...AUTH_METHOD_PARTS,
  (options) => auditSettings(options),
  () => traceSettings(process.env),
  (options) => egressOf(options),
  (options) => encryptionOf(options),
  (options) => admissionPluginsOf(options),
  (options) => checkServingTls(options),
  (options) => checkListener(options),
  (options) => checkOrigins(options),
  (options) => checkServiceAccountKeys(options),
  ({ dataDir }) => checkSigningAuthority(resolve(dataDir)),
  (options) => agentTls(options),
  (options) => shownToServices(options),
  (options) => storeAccess(options, resolve(options.dataDir)),
  ({ auditLogPath }) => requireFile(auditLogPath === '-' ? '' : auditLogPath, '--audit-log-path'),
  (options) => checkLogPlace(options),
  (options, program) => program === 'up' && requireFile((options as UpOptions).schedulingRecord, '--scheduling-record'),
  (options) => {
    requireFolder(options.dataDir, '--data-dir');
    refuseUnfinishedStore(options, resolve(options.dataDir));
  },
  ({ dataDir }) => existsSync(dataDir) && refuseForeignDirectory(resolve(dataDir)),
  (options) => checkCertificateFolder(options),
];

/** What a start with the arguments would be told, and what would keep it from starting. */
async function findings(
  program: CheckedProgram,
  argv: readonly string[],
): Promise<{ warnings: string[]; problems: string[] }> {
  const problems: string[] = [];
  const warnings: string[] = [];
  try {
    const { parsed, checks } = program === 'scheduler' ? schedulerChecks(argv) : serverChecks(program, argv);
    warnings.push(...parsed.warnings, ...notesOf(parsed));
    for (const check of checks) {
      try {
        const found = await check();
        if (isPlanned(found)) warnings.push(...found.plan.warnings);
      } catch (error) {
        problems.push(errorLine(error));
      }
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.push(errorLine(error), ...error.others.map((other) => errorLine(other)));
  }
  return { warnings, problems };
}

/** What a start says of options, and of its environment, that it can start with. */
function notesOf({ options, standing, given }: Run): readonly string[] {
  const isServer = 'storeServers' in options;
  const notes = [
    standing,
    idleProxy(process.env, IN_ITS_PLACE[isServer ? 'server' : 'scheduler']),
    missingSuites(options),
    ...untimelyCertificates(options),
    ...logWarnings(options),
    ...(isServer ? [unsharedKeys(options), tokenlessLines(options)] : []),
    ...('config' in options
      ? [ignoredFlags(options.config, given), idleFields(options.config, isServer), idleEnvironment(process.env)]
      : []),
  ];
  return notes.filter((note) => note !== undefined);
}

const isPlanned = (found: unknown): found is ServerPlan =>
  typeof found === 'object' && found !== null && 'plan' in found;

/** Throws UsageError. */
function serverChecks(program: ServerProgram, argv: readonly string[]) {
  const parsed = parseArguments(program, argv);
  if (parsed.action !== 'run') throw new UsageError(USAGE);
  return { parsed, checks: CHECKS.map((check) => () => check(parsed.options, program)) };
}

/** Throws UsageError. */
function schedulerChecks(argv: readonly string[]) {
  const parsed = parseArguments('scheduler', argv);
  if (parsed.action !== 'run') throw new UsageError(USAGE);
  return { parsed, checks: SCHEDULER_CHECKS.map((check) => () => check(parsed.options)) };
}

const USAGE = `usage: orch check-config [${PROGRAMS.join('|')}] [OPTIONS of that command]`;

/** Prints warnings and problems, one line each, and sets the exit code: 1 where a start would fail. Throws UsageError. */
export async function checkConfig(argv: readonly string[]): Promise<void> {
  if (asksForHelp(argv)) throw new UsageError(USAGE);
  const [first = ''] = argv;
  const isNamed = PROGRAMS.includes(first);
  const program = isNamed ? (first as CheckedProgram) : 'up';
  const { warnings, problems } = await findings(program, isNamed ? argv.slice(1) : argv);
  for (const warning of warnings) warn(warning);
  for (const problem of problems) process.stderr.write(`orch: ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
  else process.stdout.write(`orch ${program} can start with this\n`);
}
