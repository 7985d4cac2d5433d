// Finds out whether and why not an address can be listened on, for a listener that could not tell: uws says nothing about why
// it failed. It loads some of Node's modules for it: a start that goes well probes once, in the first thread.
import { createServer } from 'node:net';
import { OrchError } from '../../runtime/errors.ts';
import { hostPort } from '../../values/host-text.ts';

/** The operator's error for a failed listen. */
export function listenError(host: string, port: number, code: string | undefined): OrchError {
  const address = hostPort(host, port);
  if (code === 'EADDRINUSE') return new OrchError('BadConfiguration', `address ${address} is already in use`);
  return new OrchError('BadConfiguration', `address ${address} cannot be listened on (${code ?? 'unknown error'})`);
}

/**
 * Listens for a moment on the address. Answers the port, which is a free one when 0 was asked for; rejects with
 * BadConfiguration when the address is taken, not this machine's, or not permitted. With several threads on one port,
 * probe once before the first of them listens.
 */
export function probeAddress(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(host, port, error.code)));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const found = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(found));
    });
  });
}
