// What the ingress understands: the hub's frames for open watches, and questions about its sockets.
import type { Protocol } from '../../runtime/actor.ts';
import type { WatchDeliveryTells } from '../hub/protocol.ts';

/** Where a superuser gets a snapshot of the store (storage/snapshot-file.ts). */
export const SNAPSHOT_PATH = '/store/snapshot';

export interface IngressStatus {
  readonly listener: 'uws' | 'node' | 'none';
  /** The port in use, 0 before the listener is open. */
  readonly port: number;
  readonly connections: number;
  readonly requestsInFlight: number;
}

export interface IngressProtocol extends Protocol {
  readonly asks: {
    readonly status: { readonly message: Record<never, never>; readonly reply: IngressStatus };
  };
  readonly tells: WatchDeliveryTells;
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly ingress: IngressProtocol;
  }
}
