// What the ingress understands: the hub's frames for open watches, and questions about its sockets.
import type { Finding } from '../../api/aggregation/availability.ts';
import type { NamespaceSweep } from '../../api/aggregation/namespace-sweep.ts';
import type { RemoteListing, RemoteWrite, RemoteWriteReply } from '../../api/aggregation/remote-object.ts';
import type { RemoteOwner, RemoteOwnerAsked } from '../../api/aggregation/remote-owner.ts';
import type { Protocol } from '../../runtime/actor.ts';
import type { WatchDeliveryTells } from '../hub/protocol.ts';
import type { StoreFeedTells } from '../store/protocol.ts';

/** Where a superuser gets a snapshot of the store (storage/upkeep/snapshot-file.ts). */
export const SNAPSHOT_PATH = '/store/snapshot';

export interface IngressStatus {
  readonly listener: 'uws' | 'node' | 'none';
  /** The port in use, 0 before the listener is open. */
  readonly port: number;
  readonly connections: number;
  readonly requestsInFlight: number;
}

/** A request that waits. */
export interface RequestDump {
  readonly schema: string;
  readonly distinguisher: string;
  readonly arrivedWallMs: number;
  /** Who, verb, path, namespace, name, group and version, resource, subresource. */
  readonly details: readonly string[];
}

/** A queue that has requests. */
export interface QueueDump {
  readonly index: number;
  readonly running: number;
  readonly virtualStart: number;
  readonly requests: readonly RequestDump[];
}

export interface LevelDump {
  readonly name: string;
  readonly isExempt: boolean;
  readonly isQuiescing: boolean;
  readonly waiting: number;
  readonly running: number;
  readonly queueCount: number;
  readonly queues: readonly QueueDump[];
}

/** The priority levels of one thread. */
export interface FlowDump {
  readonly levels: readonly LevelDump[];
}

/** The messages about what waits and runs, and by what. */
export interface FlowProtocol extends Protocol {
  readonly asks: {
    readonly dumpFlows: { readonly message: Record<never, never>; readonly reply: FlowDump };
  };
  readonly tells: StoreFeedTells & {
    /** Requests that wait here are owed a seat that has become free. */
    readonly seatFree: Record<never, never>;
  };
}

export interface IngressProtocol extends Protocol {
  readonly asks: {
    readonly status: { readonly message: Record<never, never>; readonly reply: IngressStatus };
    /** Tries whether the server of an APIService can be reached, as this thread sees it; undefined: it knows none of that name. */
    readonly tryApiService: {
      readonly message: { readonly name: string };
      readonly reply: { readonly finding: Finding | undefined };
    };
    /** Whether an extension server has an object that another names as its owner. */
    readonly lookUpOwner: { readonly message: RemoteOwnerAsked; readonly reply: RemoteOwner };
    /** Which objects of extension servers are owned, or on their way out, and how many there are. */
    readonly listOwnedRemotes: { readonly message: Record<never, never>; readonly reply: RemoteListing };
    /** Deletes or patches an object of an extension server. */
    readonly writeRemote: { readonly message: { readonly write: RemoteWrite }; readonly reply: RemoteWriteReply };
    /** Deletes what extension servers have of a namespace. */
    readonly sweepNamespace: { readonly message: { readonly namespace: string }; readonly reply: NamespaceSweep };
  } & FlowProtocol['asks'];
  readonly tells: WatchDeliveryTells & FlowProtocol['tells'];
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly ingress: IngressProtocol;
  }
}
