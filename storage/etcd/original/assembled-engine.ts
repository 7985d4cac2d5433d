// The engine of the original's layout, put together from what a server's options say, on whatever cluster.
import type { Features } from '../../../api/codec/default-rules.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { Timers } from '../../../runtime/environment.ts';
import type { StoredEncryption } from '../../encryption/stored-encryption.ts';
import type { StorageMedia } from '../../forms/stored-value.ts';
import type { EtcdCluster } from '../etcd-cluster.ts';
import type { ServedKeyspace } from '../served-keyspace.ts';
import { LeaseGrants } from './lease-grants.ts';
import { OriginalEngine } from './original-engine.ts';
import { OriginalForms } from './original-forms.ts';
import { OriginalKeys } from './original-keys.ts';
import { OriginalValues } from './original-values.ts';
import { RangeAllocations } from './range-allocation.ts';
import { type ServiceNetwork, ServiceRanges } from './service-ranges.ts';

/** What decides what lies where. */
export interface LayoutSettings {
  readonly registry: Registry;
  readonly prefix: string;
  readonly media: StorageMedia;
  readonly features: Features;
  readonly encryption: StoredEncryption | undefined;
  readonly network: ServiceNetwork;
}

export interface OriginalSettings extends LayoutSettings {
  /** `--event-ttl`; 0: events are kept. */
  readonly eventTtlSeconds: number;
  readonly leaseReuseSeconds: number;
  /** See LeaseGrantsParts. */
  readonly onFullLease?: (objects: number) => void;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
  /** Cryptographic. */
  readonly freshBytes: (count: number) => Uint8Array;
  readonly processId: string;
  readonly served?: ServedKeyspace | undefined;
  readonly warn: (text: string) => void;
}

const TOKEN_KEY_BYTES = 32;
/** Of a lease's name, which etcd takes for a number of 63 bits. */
const LEASE_ID_BYTES = 6;

export function originalEngine(cluster: EtcdCluster, settings: OriginalSettings): OriginalEngine {
  const { registry, monotonicMs, freshBytes, leaseReuseSeconds: reuseSeconds, eventTtlSeconds, onFullLease } = settings;
  const freshId = (): number => Buffer.from(freshBytes(LEASE_ID_BYTES)).readUIntBE(0, LEASE_ID_BYTES) + 1;
  return new OriginalEngine({
    ...settings,
    ...originalLayout(settings),
    cluster,
    dialect: registry.dialect.name,
    tokenKey: freshBytes(TOKEN_KEY_BYTES),
    leases: new LeaseGrants({ cluster, monotonicMs, freshId, reuseSeconds, onFull: onFullLease }),
    leaseSeconds: { events: eventTtlSeconds },
  });
}

/** Where things lie, and as what. */
export function originalLayout({ registry, prefix, media, features, encryption, network }: LayoutSettings): {
  readonly keys: OriginalKeys;
  readonly forms: OriginalForms;
  readonly ranges: ServiceRanges;
  readonly allocations: RangeAllocations;
} {
  const { dialect } = registry;
  const keys = new OriginalKeys(registry, prefix);
  const defaultFamily = features('IPv6DualStack')
    ? (`IPv${network.clusterIpRanges[0]?.family ?? 4}` as const)
    : undefined;
  const values = new OriginalValues({ registry, keys, media, features, defaultFamily });
  return {
    keys,
    forms: new OriginalForms({ dialect, keys, values, encryption }),
    ranges: new ServiceRanges(network, keys.root),
    allocations: new RangeAllocations(dialect, media),
  };
}
