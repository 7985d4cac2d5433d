// What a scheduler's HTTPS shows and speaks: the operator's pair, else one that is made and kept in --cert-dir, else one that is
// made for this process.
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { FollowedTls } from '../../actors/ingress/serving-tls.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import type { TlsMaterial } from '../../transport/http.ts';
import type { TlsFiles } from '../../transport/tls/material-files.ts';
import { materialOf, pathsOf } from '../../transport/tls/material-files.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { isEveryAddress } from '../../values/host-text.ts';
import { operatorText } from '../files/operator-file.ts';
import { sharedPair } from '../server/certificate-folder.ts';
import { givenPair, namedPairs, spokenTls } from '../server/serving-tls.ts';

/** As long as a pair that is kept: what is made for a process cannot be replaced while that runs. */
const VALID_MS = 10 * 365 * 24 * 3600 * 1000;
/** A client whose clock is behind still accepts it. */
const BACKDATED_MS = 3600 * 1000;

export interface SchedulerTls {
  readonly tls: TlsMaterial;
  /** What of it is from files, which may be replaced; without a pair, that was made for this process. */
  readonly files: FollowedTls;
}

/** `clientCaPem`: whose certificates clients are asked for; empty for none. Throws OrchError BadConfiguration. */
export async function schedulerTls(options: SchedulerOptions, clientCaPem: string): Promise<SchedulerTls> {
  const { certDir, bindAddress } = options;
  const names = isEveryAddress(bindAddress) ? [] : [bindAddress];
  const pair = givenPair(options) ?? (certDir === '' ? undefined : await sharedPair(resolve(certDir), names));
  const named = namedPairs(options);
  if (pair !== undefined) {
    const files: TlsFiles = { ...pair, named, clientCa: [] };
    return { tls: { ...material(files, options), ...asking(clientCaPem) }, files };
  }
  const made = await makeSelfSigned({
    commonName: hostname().slice(0, 40),
    names: ['localhost', '127.0.0.1', '::1', hostname(), ...names],
    notBefore: new Date(Date.now() - BACKDATED_MS),
    notAfter: new Date(Date.now() + VALID_MS),
  });
  const [first] = named;
  const others = first === undefined ? [] : (material({ ...first, named, clientCa: [] }, options).namedPairs ?? []);
  const own = { ...spokenTls(options), ...made, ...(others.length === 0 ? {} : { namedPairs: others }) };
  return { tls: { ...own, ...asking(clientCaPem) }, files: { named, clientCa: [] } };
}

const asking = (clientCaPem: string) => (clientCaPem === '' ? {} : { clientCaPem });

function material(files: TlsFiles, options: SchedulerOptions): TlsMaterial {
  const texts = pathsOf(files).map((path) => operatorText(path));
  return materialOf(files, texts, spokenTls(options));
}
