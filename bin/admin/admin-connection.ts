// How orch's own commands reach a server that runs: by the kubeconfig in its data folder. Apart from what writes that at each start, since
// a start has no use for a client's TLS.
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { asObject, asText } from '../../api/json/object-fields.ts';
import { OrchError } from '../../runtime/errors.ts';
import { believing } from '../../transport/tls/certificates.ts';
import { USUAL_SUITES } from '../../transport/tls/usual-suites.ts';
import { operatorContent } from '../files/operator-file.ts';
import { ADMIN_ENTRIES, KUBECONFIG_FILE, named } from '../server/admin-kubeconfig.ts';
import { holdsOneOf } from '../server/data-directory.ts';

/** Longer than a server takes for the first piece of any answer, or between two. */
const SILENCE_MS = 5 * 60_000;

export interface AdminConnection {
  readonly url: string;
  /** The server's certificate is believed for being in the file, whoever signed it, as kubectl believes it. */
  readonly tls: Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'ciphers' | 'servername'>;
  readonly token: string;
}

/** Throws BadConfiguration when no server was ever started on the folder, or when the folder cannot be read. */
export function adminConnection(directory: string): AdminConnection {
  const path = join(directory, KUBECONFIG_FILE);
  if (!holdsOneOf(directory, [KUBECONFIG_FILE])) {
    throw new OrchError('BadConfiguration', `no server was started on ${directory}`);
  }
  const content = asObject(operatorContent(path, ''));
  const cluster = asObject(named(content.clusters, ADMIN_ENTRIES.cluster).cluster);
  const url = asText(cluster.server);
  const token = asText(asObject(named(content.users, ADMIN_ENTRIES.user).user).token);
  if (url === '' || token === '') throw new OrchError('BadConfiguration', `${path} names no server and user`);
  const caPem = Buffer.from(asText(cluster['certificate-authority-data']), 'base64').toString();
  const servername = asText(cluster['tls-server-name']);
  const tls = { ...believing(caPem), ciphers: USUAL_SUITES, ...(servername === '' ? {} : { servername }) };
  return { url, tls, token };
}

/** Ends a request whose server takes connections and says nothing, as where it is stopped: whoever waits for it would do so for ever. */
export function endWhereSilent(request: ClientRequest, silenceMs = SILENCE_MS): void {
  // Of an answer that has begun its reader hears by itself, and of others whoever waits for them.
  request.on('error', () => {});
  const end = (): void => void request.destroy(new Error(`it has said nothing for ${silenceMs / 1000} seconds`));
  // A request has a listener for one timeout of its socket alone, and the one of Node's own agent, after five seconds, uses it up.
  const heed = (socket: Socket): void => {
    socket.setTimeout(silenceMs, end);
    request.once('close', () => socket.setTimeout(0, end));
  };
  const { socket } = request as { readonly socket: Socket | null };
  if (socket === null) request.once('socket', heed);
  else heed(socket);
}
