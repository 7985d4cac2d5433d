// Which engine keeps the store's data, by the server's settings.
import { DIALECTS } from '../../config/dialect.ts';
import type { FeatureGateName } from '../../config/feature-gates.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import { MemoryEngine } from '../../storage/engines/memory-engine.ts';
import type { StoreEngine } from '../../storage/engines/shared-engine.ts';
import type { EtcdAccess } from '../../storage/etcd/etcd-access.ts';
import { ServedKeyspace } from '../../storage/etcd/served-keyspace.ts';
import type { FolderOptions } from '../../storage/level/folder-identity.ts';
import { featureGates, type ServerSettings, storePrefixOf } from '../server-settings.ts';
import { threadBuiltIns } from '../thread-registry.ts';
import { followedAccess } from './followed-access.ts';

/** The engine that the settings ask for, unopened. Of those that need a package or Node's HTTP/2 only that one is loaded. */
export function engineFor(
  settings: ServerSettings,
  context: ActorContext,
  encryption: StoredEncryption | undefined,
): StoreEngine | Promise<StoreEngine> {
  const { options, dialect, dataDirectory, storeEngine, storeAccess } = settings;
  if (storeAccess !== undefined) {
    const isOriginal = options.storeLayout !== 'own';
    return isOriginal
      ? originalEngine(settings, storeAccess, context, encryption)
      : etcdEngine(settings, storeAccess, context);
  }
  if (storeEngine === 'memory') return new MemoryEngine(context.random.bytes(32));
  return levelEngine({ directory: dataDirectory, prefix: storePrefixOf(options), dialect });
}

async function levelEngine(options: FolderOptions): Promise<StoreEngine> {
  const { LevelEngine } = await import('../../storage/level/level-engine.ts');
  return new LevelEngine(options);
}

/** No other server needs Node's HTTP/2 for its store. */
async function etcdEngine(settings: ServerSettings, access: EtcdAccess, context: ActorContext): Promise<StoreEngine> {
  const { engineOnEtcd } = await import('../../storage/etcd/engine-on-etcd.ts');
  const { timers, random, log } = context;
  return engineOnEtcd(followedAccess(access, context), {
    prefix: storePrefixOf(settings.options),
    dialect: settings.dialect,
    timers,
    processId: random.uuid(),
    tokenKey: random.bytes(32),
    served: servedBy(settings),
    warn: (text) => log.warn({}, text),
  });
}

const LEASE_OBJECTS = [10, 50, 100, 500, 1000, 2500, 5000];

/** In the original's layout, so that its servers may run beside this one. */
async function originalEngine(
  settings: ServerSettings,
  access: EtcdAccess,
  context: ActorContext,
  encryption: StoredEncryption | undefined,
): Promise<StoreEngine> {
  const { originalEngineOnEtcd } = await import('../../storage/etcd/original/engine-on-etcd.ts');
  const { options, dialect } = settings;
  const { timers, random, log, clock, metrics } = context;
  const gates = featureGates(settings);
  const leases = metrics.histogram(
    `${DIALECTS[dialect].storeCheck}_lease_object_counts`,
    'Objects that were put under one lease.',
    LEASE_OBJECTS,
  );
  return originalEngineOnEtcd(followedAccess(access, context), {
    registry: threadBuiltIns(context, settings),
    prefix: storePrefixOf(options),
    media: options.storageMediaType === DIALECTS[dialect].protobufMediaType ? 'protobuf' : 'json',
    features: (gate) => gates.enabled(gate as FeatureGateName),
    encryption,
    network: { clusterIpRanges: options.serviceClusterIpRange, nodePorts: options.serviceNodePortRange },
    eventTtlSeconds: Math.ceil(options.eventTtlMs / 1000),
    leaseReuseSeconds: options.leaseReuseDurationSeconds,
    onFullLease: (objects) => leases.observe(objects),
    timers,
    monotonicMs: () => clock.monotonicMs(),
    freshBytes: (count) => random.bytes(count),
    processId: random.uuid(),
    served: servedBy(settings),
    warn: (text) => log.warn({}, text),
  });
}

function servedBy({ servedKeyspace }: ServerSettings): ServedKeyspace | undefined {
  return servedKeyspace && new ServedKeyspace(servedKeyspace);
}
