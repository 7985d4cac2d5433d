// The server as the service of the cluster that it is itself. A webhook that names it is answered by an extension server behind it, or
// by itself, and is asked over the server's own listener by the server's own identity, as in Kubernetes: what the configuration or the
// operator says of credentials is for other services.
import type { ServicePort } from '../../api/aggregation/api-service.ts';
import type { User } from '../../api/authorization/attributes.ts';
import type { Dialect } from '../../config/dialect.ts';
import {
  NOTHING_SHOWN,
  type ServiceConnection,
  type ServiceCredentials,
} from '../../transport/outgoing/connection-file.ts';
import type { ServicePlace } from '../../transport/outgoing/service-client.ts';

/** How the server reaches itself. Plain data: it crosses threads. */
export interface OwnService {
  readonly host: string;
  readonly port: number;
  /** Known to this process alone, and made anew with each start. */
  readonly token: string;
}

/** Whom the token is for, and who writes what the server does by itself. */
export const API_SERVER: User = { name: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} };

const NAMESPACE = 'default';
const PORT = 443;

/** True for the server's own service. */
export function isOwnService({ brand }: Dialect, address: ServicePort): boolean {
  return address.service === brand && address.namespace === NAMESPACE && address.port === PORT;
}

/** Where it is, seen from itself. */
export function placeOfItself({ host, port }: OwnService): ServicePlace {
  return { host, port };
}

/**
 * How it is connected to by itself. Nothing is verified, since it is its own listener, whose certificate may be for any name; no proxy
 * stands between.
 */
export function connectionToItself({
  token,
}: OwnService): ServiceCredentials & Pick<ServiceConnection, 'insecure' | 'way'> {
  return { ...NOTHING_SHOWN, credentials: { kind: 'token', token }, insecure: true, way: undefined };
}
