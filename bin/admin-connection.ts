// How the admin of a data folder reaches the server that runs on it: what its kubeconfig says.
import { join } from 'node:path';
import { OrchError } from '../runtime/errors.ts';
import { holdsOneOf, KUBECONFIG_FILE } from './data-directory.ts';
import { operatorContent } from './operator-file.ts';

/** What of the file is looked at. Whatever is in it may be missing: it is a file as others. */
interface Kubeconfig {
  readonly clusters?: readonly { cluster?: { server?: string; 'certificate-authority-data'?: string } }[];
  readonly users?: readonly { user?: { token?: string } }[];
}

export interface AdminConnection {
  readonly url: string;
  readonly ca: Buffer;
  readonly token: string;
}

/** Throws BadConfiguration when no server was ever started on the folder, or when the folder cannot be read. */
export function adminConnection(directory: string): AdminConnection {
  const path = join(directory, KUBECONFIG_FILE);
  if (!holdsOneOf(directory, [KUBECONFIG_FILE])) {
    throw new OrchError('BadConfiguration', `no server was started on ${directory}`);
  }
  const { clusters, users } = (operatorContent(path, '') ?? {}) as Kubeconfig;
  const cluster = clusters?.[0]?.cluster;
  const token = users?.[0]?.user?.token;
  if (cluster?.server === undefined || token === undefined) {
    throw new OrchError('BadConfiguration', `${path} names no server and user`);
  }
  return { url: cluster.server, ca: Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64'), token };
}
