// The engine of the original's layout on a real cluster: what is loaded only where `--store-layout` asks for it.
import type { EtcdAccess } from '../etcd-access.ts';
import { EtcdClient } from '../etcd-client.ts';
import { type OriginalSettings, originalEngine } from './assembled-engine.ts';
import type { OriginalEngine } from './original-engine.ts';

export function originalEngineOnEtcd(access: EtcdAccess, settings: OriginalSettings): OriginalEngine {
  return originalEngine(new EtcdClient(access, settings.timers), settings);
}
