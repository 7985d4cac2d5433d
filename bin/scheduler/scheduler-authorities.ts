// The authorities that a scheduler believes clients by: those of its options, and what they leave open as the cluster has it, in
// the config map that an API server keeps for components of its own (`extension-apiserver-authentication`).
import { resolve } from 'node:path';
import { objectPath } from '../../actors/scheduler/remote/resource-paths.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { ApiClient } from '../../transport/outgoing/api-client.ts';
import { bundleOf } from '../../transport/tls/material-files.ts';
import { connectionOf } from '../files/auth-methods.ts';
import { operatorText } from '../files/operator-file.ts';
import type { ClientAuthorities } from './scheduler-access.ts';

const LOOKUP_DEADLINE_MS = 10_000;
const MAP_NAME = 'extension-apiserver-authentication';

/** What of the config map says something. */
type Looked = Readonly<Record<string, string>>;

/** `say` is told of a lookup that failed and is tolerated. Throws OrchError BadConfiguration. */
export async function clientAuthorities(
  options: SchedulerOptions,
  say: (line: string) => void,
): Promise<ClientAuthorities> {
  const { clientCaFile, requestheaderClientCaFile } = options;
  const looked = await lookedUp(options, say);
  const ownProxy: ClientAuthorities = {
    clientCaPem: clientCaFile === '' ? '' : bundle(clientCaFile),
    proxyCaPem: requestheaderClientCaFile === '' ? '' : bundle(requestheaderClientCaFile),
    proxyNames: options.requestheaderAllowedNames,
    usernameHeaders: lowerCase(options.requestheaderUsernameHeaders),
    groupHeaders: lowerCase(options.requestheaderGroupHeaders),
    extraPrefixes: lowerCase(options.requestheaderExtraHeadersPrefix),
  };
  const clientCaPem = ownProxy.clientCaPem || (looked['client-ca-file'] ?? '');
  const proxyCaPem = looked['requestheader-client-ca-file'] ?? '';
  if (requestheaderClientCaFile !== '' || proxyCaPem === '') return { ...ownProxy, clientCaPem };
  return {
    clientCaPem,
    proxyCaPem,
    proxyNames: listIn(looked, 'requestheader-allowed-names'),
    usernameHeaders: lowerCase(listIn(looked, 'requestheader-username-headers')),
    groupHeaders: lowerCase(listIn(looked, 'requestheader-group-headers')),
    extraPrefixes: lowerCase(listIn(looked, 'requestheader-extra-headers-prefix')),
  };
}

/** Whether the cluster is asked for what the options leave open. */
export function looksUp(options: SchedulerOptions): boolean {
  const { authenticationOrchconfig: file, clientCaFile, requestheaderClientCaFile } = options;
  const isNeeded = clientCaFile === '' || requestheaderClientCaFile === '';
  return file !== '' && !options.authenticationSkipLookup && isNeeded;
}

async function lookedUp(options: SchedulerOptions, say: (line: string) => void): Promise<Looked> {
  if (!looksUp(options)) return {};
  try {
    return await readMap(options.authenticationOrchconfig, options);
  } catch (error) {
    const problem = `the authorities of the cluster cannot be looked up: ${error instanceof Error ? error.message : error}`;
    if (!options.authenticationTolerateLookupFailure) throw new OrchError('BadConfiguration', problem);
    say(`${problem}; no certificate of theirs lets in`);
    return {};
  }
}

async function readMap(file: string, { apiDialect }: SchedulerOptions): Promise<Looked> {
  const { disk, clock } = realEnvironment;
  const client = new ApiClient(
    {
      connection: connectionOf(file),
      readFile: (path) => disk.readFile(path),
      nowMs: () => clock.monotonicMs(),
      onRefused: () => {},
    },
    'orch-scheduler',
  );
  try {
    const path = objectPath('v1', 'configmaps', DIALECTS[apiDialect].systemNamespace, MAP_NAME);
    const { status, body } = await client.call({ method: 'GET', path }, LOOKUP_DEADLINE_MS);
    if (status !== 200) throw new Error(`the config map ${MAP_NAME} was answered ${status}`);
    return (JSON.parse(body.toString('utf8')) as { readonly data?: Looked }).data ?? {};
  } finally {
    client.close();
  }
}

/** Lists stand there as JSON. */
function listIn(looked: Looked, name: string): readonly string[] {
  const value: unknown = JSON.parse(looked[name] ?? '[]');
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function bundle(file: string): string {
  return bundleOf(resolve(file), operatorText(file));
}

const lowerCase = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase());
