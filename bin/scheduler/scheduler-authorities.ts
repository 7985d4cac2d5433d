// The authorities that a scheduler believes clients by: those of its options, and what they leave open as the cluster has it, in
// the config map that an API server keeps for components of its own (`extension-apiserver-authentication`).
import { resolve } from 'node:path';
import type { AuthorityBundles, AuthorityFiles } from '../../actors/followed-authorities.ts';
import { objectPath } from '../../actors/scheduler/remote/resource-paths.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import { messageOf, OrchError } from '../../runtime/errors.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { ApiClient } from '../../transport/outgoing/api-client.ts';
import { bundleOf } from '../../transport/tls/material-files.ts';
import { connectionOf } from '../files/auth-methods.ts';
import { operatorText } from '../files/operator-file.ts';
import { type ClusterAuthorities, listIn, MAP_NAME, usableAuthorities } from './published-authorities.ts';
import type { ClientAuthorities } from './scheduler-access.ts';

const LOOKUP_DEADLINE_MS = 10_000;

/** The files of the options. */
export function ownFiles({ clientCaFile, requestheaderClientCaFile }: SchedulerOptions): AuthorityFiles {
  const filesOf = (path: string): readonly string[] => (path === '' ? [] : [resolve(path)]);
  return { client: filesOf(clientCaFile), proxy: filesOf(requestheaderClientCaFile) };
}

/** What the files of the options hold. Throws OrchError BadConfiguration. */
export function ownAuthorities(options: SchedulerOptions): AuthorityBundles {
  const textOf = (paths: readonly string[]): string => paths.map((path) => bundleOf(path, operatorText(path))).join('');
  const { client, proxy } = ownFiles(options);
  return { client: textOf(client), proxy: textOf(proxy) };
}

/** Those of the options' files, and of the cluster what they leave open. */
export function clientAuthorities(
  options: SchedulerOptions,
  own: AuthorityBundles,
  cluster: ClusterAuthorities,
): ClientAuthorities {
  const clientCaPem = own.client || (cluster['client-ca-file'] ?? '');
  const proxyCaPem = cluster['requestheader-client-ca-file'] ?? '';
  if (options.requestheaderClientCaFile !== '' || proxyCaPem === '') {
    return {
      clientCaPem,
      proxyCaPem: own.proxy,
      proxyNames: options.requestheaderAllowedNames,
      usernameHeaders: lowerCase(options.requestheaderUsernameHeaders),
      groupHeaders: lowerCase(options.requestheaderGroupHeaders),
      extraPrefixes: lowerCase(options.requestheaderExtraHeadersPrefix),
    };
  }
  return {
    clientCaPem,
    proxyCaPem,
    proxyNames: listIn(cluster, 'requestheader-allowed-names'),
    usernameHeaders: lowerCase(listIn(cluster, 'requestheader-username-headers')),
    groupHeaders: lowerCase(listIn(cluster, 'requestheader-group-headers')),
    extraPrefixes: lowerCase(listIn(cluster, 'requestheader-extra-headers-prefix')),
  };
}

/** Whether the cluster is asked for what the options leave open. */
export function looksUp(options: SchedulerOptions): boolean {
  const { authenticationOrchconfig: file, clientCaFile, requestheaderClientCaFile } = options;
  const isNeeded = clientCaFile === '' || requestheaderClientCaFile === '';
  return file !== '' && !options.authenticationSkipLookup && isNeeded;
}

/** `say` is told of a lookup that failed and is tolerated. Throws OrchError BadConfiguration. */
export async function clusterAuthorities(
  options: SchedulerOptions,
  say: (line: string) => void,
): Promise<ClusterAuthorities> {
  if (!looksUp(options)) return {};
  try {
    return await readMap(options.authenticationOrchconfig, options);
  } catch (error) {
    const problem = `the authorities of the cluster cannot be looked up: ${messageOf(error)}`;
    if (!options.authenticationTolerateLookupFailure) throw new OrchError('BadConfiguration', problem);
    say(`${problem}; no certificate of theirs lets in`);
    return {};
  }
}

async function readMap(file: string, { apiDialect }: SchedulerOptions): Promise<ClusterAuthorities> {
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
    return usableAuthorities((JSON.parse(body.toString('utf8')) as { readonly data?: ClusterAuthorities }).data ?? {});
  } finally {
    client.close();
  }
}

const lowerCase = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase());
