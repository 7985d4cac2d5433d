// What the listener shows and speaks, by the options: finds and reads the operator's certificate files, and refuses at the
// start what no listener could serve.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AuthorityFiles } from '../../actors/followed-authorities.ts';
import type { SchedulerOptions, ServerOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { Plan } from '../../runtime/placement/plan.ts';
import { chooseCiphers } from '../../transport/cipher-suites.ts';
import { HEADER_BYTES_MAX, type TlsMaterial, type TlsVersion } from '../../transport/http.ts';
import { sharesPorts } from '../../transport/node/port-sharing.ts';
import { untimeliness } from '../../transport/tls/certificates.ts';
import {
  type ListenerNeeds,
  reasonAgainstAuthorities,
  reasonBeforeUws,
  reasonForNode,
} from '../../transport/tls/listener-limits.ts';
import { materialOf, type PairFiles, pairOf, pathsOf, type TlsFiles } from '../../transport/tls/material-files.ts';
import { selfSignedPair } from '../../transport/tls/self-signed-pair.ts';
import { patternProblem } from '../../transport/tls/server-names.ts';
import { loadUws, prepareUws } from '../../transport/uws/binary.ts';
import { operatorText } from '../files/operator-file.ts';
import { sharedPair } from './certificate-folder.ts';
import { authorityFile } from './signing-authority.ts';

const VERSIONS: Readonly<Record<ServerOptions['tlsMinVersion'], TlsVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** Of either program. */
type TlsOptions = ServerOptions | SchedulerOptions;

type SpokenTls = Pick<TlsMaterial, 'minVersion' | 'ciphers'>;

interface ServingTls {
  readonly tls: TlsMaterial;
  readonly tlsFiles: TlsFiles;
  readonly authorityFiles: AuthorityFiles;
}

/**
 * The listener's TLS and the files it is from. `names`: of the certificate that is made in `directory` or --cert-dir where the
 * operator gives none. Throws OrchError BadConfiguration.
 */
export async function servingTls(
  options: ServerOptions,
  directory: string,
  names: readonly string[],
): Promise<ServingTls> {
  requireUws(options);
  const { certDir } = options;
  const pair =
    givenPair(options) ??
    // Nobody else comes to what is in the data directory.
    (await (certDir === '' ? selfSignedPair(join(directory, 'pki'), names) : sharedPair(resolve(certDir), names)));
  const authorityFiles = authorityFilesOf(options, directory);
  const clientCa = [...new Set([...authorityFiles.client, ...authorityFiles.proxy])];
  const tlsFiles = { ...pair, named: namedPairs(options), clientCa };
  const texts = pathsOf(tlsFiles).map((path) => operatorText(path));
  return { tls: materialOf(tlsFiles, texts, spokenTls(options)), tlsFiles, authorityFiles };
}

/** Where client certificates let in at all, those that the cluster signs do. */
function authorityFilesOf(
  { clientCaFile, requestheaderClientCaFile }: ServerOptions,
  directory: string,
): AuthorityFiles {
  return {
    client: clientCaFile === '' ? [] : [...new Set([resolve(clientCaFile), authorityFile(directory)])],
    proxy: requestheaderClientCaFile === '' ? [] : [resolve(requestheaderClientCaFile)],
  };
}

/** Throws what a start would because of the operator's pairs and suites. Makes nothing. */
export function checkServingTls(options: ServerOptions): void {
  spokenTls(options);
  const pair = givenPair(options);
  for (const files of [...(pair === undefined ? [] : [pair]), ...namedPairs(options)])
    pairOf(files, operatorText(files.certFile), operatorText(files.keyFile));
  requireUws(options);
  requireAuthoritiesForUws(options);
}

/** Whoever names a listener must not go without what else he asks for. */
function requireUws(options: ServerOptions): void {
  if (options.ingress !== 'uws') return;
  refuseUws(reasonForNode(listenerNeeds(options)));
}

/** As the listener itself does when it opens. What cannot be read is refused elsewhere, or is there once a start has made it. */
function requireAuthoritiesForUws({ ingress, clientCaFile, requestheaderClientCaFile }: ServerOptions): void {
  if (ingress !== 'uws') return;
  const files = [clientCaFile, requestheaderClientCaFile].filter((path) => path !== '' && existsSync(path));
  refuseUws(reasonAgainstAuthorities(files.map((path) => operatorText(path)).join('\n')));
}

function refuseUws(reason: string | undefined): void {
  if (reason !== undefined) throw new OrchError('BadConfiguration', `the uws listener cannot do it: ${reason}`);
}

/** Throws what a start would where the listener that is named cannot be loaded. */
export async function checkListener({ ingress }: Pick<ServerOptions, 'ingress'>): Promise<void> {
  if (ingress !== 'uws') return;
  prepareUws(HEADER_BYTES_MAX);
  await loadUws();
}

/** Of what the options ask for as much as decides which listener can serve it. */
function listenerNeeds(options: ServerOptions): ListenerNeeds {
  const { goawayChance, http2MaxStreamsPerConnection } = options;
  const asksClients =
    options.clientCaFile + options.requestheaderClientCaFile === '' ? {} : { clientCaPem: options.clientCaFile };
  return {
    tls: { ...spokenTls(options), ...asksClients, namedPairs: namedPairs(options) },
    ...(goawayChance > 0 ? { sendsAway: () => false } : {}),
    ...(http2MaxStreamsPerConnection > 0 ? { streamsPerConnectionMax: http2MaxStreamsPerConnection } : {}),
  };
}

/** Throws OrchError BadConfiguration for an origin that is no regular expression. */
export async function checkOrigins({ corsAllowedOrigins }: Pick<ServerOptions, 'corsAllowedOrigins'>): Promise<void> {
  if (corsAllowedOrigins.length === 0) return;
  const { OriginPatterns } = await import('../../transport/origin-patterns.ts');
  new OriginPatterns(corsAllowedOrigins);
}

/** Throws OrchError BadConfiguration where the options ask for a listener that cannot listen as they, and the plan, say. */
export function requireListener(options: ServerOptions, plan: Plan): void {
  const ingresses = plan.threads.flatMap(({ actors }) => actors).filter(({ actor }) => actor === 'ingress').length;
  if (sharesPorts() || (ingresses < 2 && !options.permitPortSharing)) return;
  const { ingress } = options;
  const reason = reasonBeforeUws(listenerNeeds(options));
  if (ingress === 'uws' || (ingress === 'auto' && reason === undefined)) return;
  const asked = reason === undefined ? '--ingress node' : `the node listener, which must serve since ${reason},`;
  const shared = ingresses < 2 ? '--permit-port-sharing' : `the placement ${plan.name}, with ${ingresses} ingresses,`;
  throw new OrchError(
    'BadConfiguration',
    `${asked} cannot share a port on Node ${process.version}, as ${shared} needs`,
  );
}

/** Suites that an operator names and this process cannot offer, one line; undefined where there are none. */
export function missingSuites({ tlsCipherSuites }: TlsOptions): string | undefined {
  const { missing } = chooseCiphers(tlsCipherSuites);
  return missing.length === 0
    ? undefined
    : `--tls-cipher-suites ${missing.join(', ')}: the TLS library of this Node lacks it`;
}

/** Of the operator's certificates those that clients do not believe now, a line each. What cannot be read, a start refuses by itself. */
export function untimelyCertificates(options: TlsOptions): readonly string[] {
  try {
    const pair = givenPair(options);
    return [...(pair === undefined ? [] : [pair]), ...namedPairs(options)].flatMap(({ certFile }) => {
      const problem = untimeliness(operatorText(certFile), Date.now());
      return problem === undefined ? [] : [`the certificate ${certFile} ${problem}: clients refuse it`];
    });
  } catch {
    return [];
  }
}

/** What the options say is spoken. Throws OrchError BadConfiguration. */
export function spokenTls({ tlsMinVersion, tlsCipherSuites }: TlsOptions): SpokenTls {
  const minVersion = VERSIONS[tlsMinVersion];
  if (tlsCipherSuites.length === 0) return { minVersion };
  const { older, tls13, missing } = chooseCiphers(tlsCipherSuites);
  if (missing.length === tlsCipherSuites.length)
    throw new OrchError('BadConfiguration', '--tls-cipher-suites names none that the TLS library of this Node has');
  return { minVersion, ciphers: { older, tls13 } };
}

/** The operator's own, if any. */
export function givenPair({ tlsCertFile, tlsPrivateKeyFile }: TlsOptions): PairFiles | undefined {
  return tlsCertFile === '' ? undefined : { certFile: resolve(tlsCertFile), keyFile: resolve(tlsPrivateKeyFile) };
}

/** The values of --tls-sni-cert-key: `certificate,key`, and after a colon the patterns they are for. */
export function namedPairs({ tlsSniCertKey }: TlsOptions): TlsFiles['named'] {
  return tlsSniCertKey.map((value) => {
    const [files = '', ...rest] = value.split(':');
    const [certFile = '', keyFile = ''] = files.split(',').map((file) => file.trim());
    const patterns =
      rest.length === 0
        ? []
        : rest
            .join(':')
            .split(',')
            .map((pattern) => pattern.trim());
    const problem = patterns.map(patternProblem).find((one) => one !== undefined);
    if (problem !== undefined) throw new OrchError('BadConfiguration', `--tls-sni-cert-key: ${problem}`);
    return { certFile: resolve(certFile), keyFile: resolve(keyFile), patterns };
  });
}
