// The file of `--egress-selector-config-file`, with the certificates that it names, read and checked before anything starts.
import { dirname, resolve } from 'node:path';
import type { ServerSettings } from '../../actors/server-settings.ts';
import { DIALECTS, type Dialect } from '../../config/dialect.ts';
import { type EgressChoice, parseEgressSelector } from '../../config/egress-selector.ts';
import type { ServerOptions } from '../../config/options.ts';
import type { ServiceConnection } from '../../transport/outgoing/connection-file.ts';
import type { EgressWay, EgressWays } from '../../transport/outgoing/egress.ts';
import { bundleOf, pairOf } from '../../transport/tls/material-files.ts';
import { inOperatorFile, operatorContent, operatorText } from './operator-file.ts';

const WHAT = 'the egress configuration';

/** The ways out. Connections to the store are none: it is in this process. Throws OrchError BadConfiguration with one line. */
function readEgressFile(file: string, dialect: Dialect): EgressWays {
  const content = operatorContent(file, WHAT);
  const { cluster, controlplane, etcd } = inOperatorFile(file, WHAT, '', () => parseEgressSelector(content, dialect));
  const wayOf = (choice: EgressChoice | undefined): EgressWay | undefined => readWay(choice, dirname(file));
  // What it names is looked at all the same.
  wayOf(etcd);
  const ways = { cluster: wayOf(cluster), controlplane: wayOf(controlplane) };
  return {
    ...(ways.cluster === undefined ? {} : { cluster: ways.cluster }),
    ...(ways.controlplane === undefined ? {} : { controlplane: ways.controlplane }),
  };
}

/** The file of the options; undefined where they name none. Throws OrchError BadConfiguration. */
export function egressOf({ egressSelectorConfigFile: file, apiDialect }: ServerOptions): EgressWays | undefined {
  return file === '' ? undefined : readEgressFile(file, DIALECTS[apiDialect]);
}

type Callers = Pick<ServerSettings, 'audit' | 'authMethods'>;

/** The services beside the server that are asked who and whether, and told of what was done, by the way of the control plane. */
export function withControlPlaneWay<S extends Callers>(settings: S, way: EgressWay | undefined): S {
  const { audit, authMethods } = settings;
  if (way === undefined) return settings;
  const { tokenWebhook, accessWebhook } = authMethods ?? {};
  const along = (connection: ServiceConnection): ServiceConnection => ({ ...connection, way });
  return {
    ...settings,
    ...(audit?.webhook === undefined ? {} : { audit: { ...audit, webhook: along(audit.webhook) } }),
    authMethods: {
      ...authMethods,
      ...(tokenWebhook && { tokenWebhook: { ...tokenWebhook, connection: along(tokenWebhook.connection) } }),
      ...(accessWebhook && { accessWebhook: { ...accessWebhook, connection: along(accessWebhook.connection) } }),
    },
  };
}

function readWay(choice: EgressChoice | undefined, directory: string): EgressWay | undefined {
  if (choice === undefined || choice === 'direct') return undefined;
  const { host, port, socketPath, tls } = choice;
  if (tls === undefined) return { host, port, socketPath };
  const path = (name: string): string => resolve(directory, name);
  const caPem = tls.caFile === '' ? '' : bundleOf(path(tls.caFile), operatorText(path(tls.caFile)));
  if (tls.certFile === '') return { host, port, socketPath, tls: { caPem, certPem: '', keyPem: '' } };
  const pair = pairOf(tls, operatorText(path(tls.certFile)), operatorText(path(tls.keyFile)));
  return { host, port, socketPath, tls: { caPem, ...pair } };
}
