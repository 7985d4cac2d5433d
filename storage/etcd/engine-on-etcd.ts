// The engine on a real cluster: what is loaded only where `--store-servers` names one.
import type { EtcdAccess } from './etcd-access.ts';
import { EtcdClient } from './etcd-client.ts';
import { EtcdEngine, type EtcdEngineParts } from './etcd-engine.ts';

export function engineOnEtcd(access: EtcdAccess, parts: Omit<EtcdEngineParts, 'cluster'>): EtcdEngine {
  return new EtcdEngine({ ...parts, cluster: new EtcdClient(access, parts.timers) });
}
