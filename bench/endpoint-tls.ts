// How the bench's own connections do TLS with an endpoint: what its connection file says, in Node's words.
import type { ConnectionOptions } from 'node:tls';
import { believing } from '../transport/tls/certificates.ts';
import type { EndpointTls } from './load-protocol.ts';

/** A certificate that stands in the file itself is believed, whoever signed it, as kubectl believes it. */
export function tlsOptionsOf({ ca, cert, key, servername }: EndpointTls): ConnectionOptions {
  return {
    rejectUnauthorized: ca !== undefined,
    ...(ca === undefined ? {} : believing(ca)),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}
