// The file of `--egress-selector-config-file` (SPEC.md "Options"): an EgressSelectorConfiguration as a plain value becomes the ways out
// of the server, or is refused with the path of what is wrong. Reading the file, and those it names, is bin/files/egress-file.ts's work.
import { ConfigurationError, listOf, membersOf, requireText, textOf } from './configuration-file.ts';
import type { Dialect } from './dialect.ts';

/** Where connections lead: to members of the cluster, to services beside the server, to the store. */
export type EgressName = 'cluster' | 'controlplane' | 'etcd';

/** A proxy as the file has it. Paths are absolute, or relative to the file; blank for none. */
export interface EgressProxy {
  readonly host: string;
  readonly port: number;
  /** A socket of this machine in place of host and port. */
  readonly socketPath: string;
  readonly tls: { readonly caFile: string; readonly certFile: string; readonly keyFile: string } | undefined;
}

/** `direct`: no proxy. */
export type EgressChoice = EgressProxy | 'direct';

export type EgressSelections = Partial<Record<EgressName, EgressChoice>>;

const API_VERSIONS = ['apiserver.@group/v1beta1', 'apiserver.@group/v1alpha1'];
/** By what files call them, in any case; `master` is what older ones say. */
const NAMES: ReadonlyMap<string, EgressName> = new Map([
  ['cluster', 'cluster'],
  ['controlplane', 'controlplane'],
  ['master', 'controlplane'],
  ['etcd', 'etcd'],
]);
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Throws ConfigurationError. */
export function parseEgressSelector(value: unknown, dialect: Dialect): EgressSelections {
  const file = membersOf(value, '', ['apiVersion', 'kind', 'egressSelections'], 'an EgressSelectorConfiguration');
  requireText(file, 'kind', 'EgressSelectorConfiguration');
  requireText(file, 'apiVersion', ...API_VERSIONS.map(dialect.spell));
  const selections: EgressSelections = {};
  listOf(file.egressSelections, 'egressSelections').forEach((one, index) => {
    const at = `egressSelections[${index}]`;
    const { name: given, connection } = membersOf(one, at, ['name', 'connection']);
    const name = NAMES.get(textOf(given, `${at}.name`).toLowerCase());
    if (name === undefined) throw new ConfigurationError(`${at}.name`, `must be cluster, controlplane or etcd`);
    if (selections[name] !== undefined) throw new ConfigurationError(`${at}.name`, `${name} is named twice`);
    selections[name] = choiceOf(connection, `${at}.connection`);
  });
  return selections;
}

function choiceOf(value: unknown, at: string): EgressChoice {
  const { proxyProtocol, transport } = membersOf(value, at, ['proxyProtocol', 'transport']);
  const protocol = textOf(proxyProtocol, `${at}.proxyProtocol`);
  const isGiven = transport !== undefined && transport !== null;
  switch (protocol) {
    case 'Direct':
      if (isGiven) throw new ConfigurationError(`${at}.transport`, 'must be left out of a direct connection');
      return 'direct';
    case 'HTTPConnect':
      if (!isGiven) throw new ConfigurationError(`${at}.transport`, 'is missing');
      return proxyOf(transport, `${at}.transport`);
    case 'GRPC':
      throw new ConfigurationError(`${at}.proxyProtocol`, 'GRPC is not spoken here: use HTTPConnect');
    default:
      throw new ConfigurationError(`${at}.proxyProtocol`, 'must be Direct, HTTPConnect or GRPC');
  }
}

function proxyOf(value: unknown, at: string): EgressProxy {
  const { tcp, uds } = membersOf(value, at, ['tcp', 'uds']);
  const hasTcp = tcp !== undefined && tcp !== null;
  const hasSocket = uds !== undefined && uds !== null;
  if (hasTcp === hasSocket) throw new ConfigurationError(at, 'must have either tcp or uds');
  if (!hasSocket) return tcpProxy(tcp, `${at}.tcp`);
  const socketPath = textOf(membersOf(uds, `${at}.uds`, ['udsName']).udsName, `${at}.uds.udsName`);
  if (!socketPath.startsWith('/')) throw new ConfigurationError(`${at}.uds.udsName`, 'must be an absolute path');
  return { host: '', port: 0, socketPath, tls: undefined };
}

function tcpProxy(value: unknown, at: string): EgressProxy {
  const { url: given, tlsConfig } = membersOf(value, at, ['url', 'tlsConfig']);
  const text = textOf(given, `${at}.url`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const port = Number(url?.port || DEFAULT_PORTS[url?.protocol ?? '']);
  if (url === undefined || !Number.isInteger(port) || url.hostname === '' || url.username !== '')
    throw new ConfigurationError(`${at}.url`, 'must be an http or https address');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isTls = url.protocol === 'https:';
  if (isTls === (tlsConfig === undefined || tlsConfig === null))
    throw new ConfigurationError(`${at}.tlsConfig`, isTls ? 'is missing' : 'must be left out of an http address');
  if (!isTls) return { host, port, socketPath: '', tls: undefined };
  const tls = membersOf(tlsConfig, `${at}.tlsConfig`, ['caBundle', 'clientKey', 'clientCert']);
  const file = (name: string): string => textOf(tls[name], `${at}.tlsConfig.${name}`);
  const [caFile, certFile, keyFile] = [file('caBundle'), file('clientCert'), file('clientKey')];
  if ((certFile === '') !== (keyFile === ''))
    throw new ConfigurationError(`${at}.tlsConfig`, 'needs clientCert and clientKey together');
  return { host, port, socketPath: '', tls: { caFile, certFile, keyFile } };
}
