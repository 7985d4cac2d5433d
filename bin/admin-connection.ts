// How the admin of a data folder reaches the server that runs on it: what its kubeconfig says.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OrchError } from '../runtime/errors.ts';
import { parseYaml } from '../transport/yaml/read.ts';
import { KUBECONFIG_FILE } from './data-directory.ts';

const DEPTH_MAX = 16;

export interface AdminConnection {
  readonly url: string;
  readonly ca: Buffer;
  readonly token: string;
}

/** Throws BadConfiguration when no server was ever started on the folder. */
export function adminConnection(directory: string): AdminConnection {
  const path = join(directory, KUBECONFIG_FILE);
  if (!existsSync(path)) throw new OrchError('BadConfiguration', `no server was started on ${directory}`);
  const { clusters, users } = parseYaml(readFileSync(path, 'utf8'), DEPTH_MAX) as {
    clusters: readonly { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: readonly { user: { token: string } }[];
  };
  const [first] = clusters;
  const [admin] = users;
  if (first === undefined || admin === undefined) {
    throw new OrchError('BadConfiguration', `${path} names no server and user`);
  }
  return {
    url: first.cluster.server,
    ca: Buffer.from(first.cluster['certificate-authority-data'], 'base64'),
    token: admin.user.token,
  };
}
