// How the server comes to its store: what keeps it from one in the data directory, and how it reaches the one that `--store-servers`
// names, with the files of its certificates.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ServerOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { EtcdAccess } from '../../storage/etcd/etcd-access.ts';
import { refuseUnfinished } from '../../storage/level/unfinished-store.ts';
import { bundleOf, pairOf } from '../../transport/tls/material-files.ts';
import { operatorText } from '../files/operator-file.ts';

/** Where `storage/level/level-engine.ts` keeps a store of this process alone. */
const OWN_STORE = 'store';

/**
 * Throws OrchError StoreUnusable where the store would be in the data directory, and what lies there keeps every start from making one.
 * Asked before anything is made there: a restore that is to be run again finds no more than it left.
 */
export function refuseUnfinishedStore({ storeServers, storeEngine }: ServerOptions, directory: string): void {
  if (storeServers.length === 0 && storeEngine === 'level') refuseUnfinished(directory);
}

/**
 * Undefined where the store is in the data directory. Throws OrchError BadConfiguration, also where a store lies in the data
 * directory that would not be served.
 */
export function storeAccess(options: ServerOptions, directory: string): EtcdAccess | undefined {
  if (options.storeServers.length === 0) return undefined;
  if (existsSync(join(directory, OWN_STORE))) {
    throw new OrchError(
      'BadConfiguration',
      `the data directory ${directory} holds a store, which --store-servers would leave aside; move it there with orch store move, or name another --data-dir`,
    );
  }
  return etcdAccess(options);
}

/** How the cluster is reached that `--store-servers` names. Throws OrchError BadConfiguration. */
export function etcdAccess(options: ServerOptions): EtcdAccess {
  const { storeServers, storeCafile, storeCertfile, storeKeyfile } = options;
  const { servers, ...credentials } = withCredentials(storeServers);
  return {
    servers,
    ...credentials,
    // One without certificates would be taken for none, and those of the machine be believed.
    ...(storeCafile === ''
      ? {}
      : { ca: bundleOf(`--store-cafile ${storeCafile}`, operatorText(storeCafile)), caFile: resolve(storeCafile) }),
    ...shownCertificate(storeCertfile, storeKeyfile),
  };
}

function shownCertificate(certFile: string, keyFile: string): Pick<EtcdAccess, 'certificate' | 'key' | 'pairFiles'> {
  if (certFile === '') return {};
  const { certPem, keyPem } = pairOf({ certFile, keyFile }, operatorText(certFile), operatorText(keyFile));
  return { certificate: certPem, key: keyPem, pairFiles: [resolve(certFile), resolve(keyFile)] };
}

/** Addresses may say a name and a password before the host: those of the first hold for all. */
function withCredentials(addresses: readonly string[]): Pick<EtcdAccess, 'servers' | 'name' | 'password'> {
  const urls = addresses.map((address) => {
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
      throw new OrchError('BadConfiguration', '--store-servers: an address is none of http or https');
    }
    return new URL(address);
  });
  const servers = urls.map((url) => url.origin);
  const [first] = urls;
  if (first === undefined || first.username === '') return { servers };
  return { servers, name: decoded(first.username), password: decoded(first.password) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new OrchError('BadConfiguration', '--store-servers: a % in a name or a password is written %25');
  }
}
