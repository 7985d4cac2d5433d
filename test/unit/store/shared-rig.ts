// Engines for stores that share one: on etcd as the model has it, where nothing is lost and nothing is late unless a test says so.
import { randomUUID } from 'node:crypto';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import type { EtcdCluster } from '../../../storage/etcd/etcd-cluster.ts';
import { EtcdEngine } from '../../../storage/etcd/etcd-engine.ts';
import { EtcdModel } from '../../simulation/etcd-model.ts';

const { timers } = realEnvironment;

export function quietModel(): EtcdModel {
  return new EtcdModel({
    after: (delayMs, callback) => void timers.after(delayMs, callback),
    nextFate: () => ({ delayMs: 0, loses: undefined }),
    watchDelayMs: () => 0,
  });
}

/** The engine of one more process on the model; `cluster`: its way there. */
export function engineOn(model: EtcdModel, cluster: EtcdCluster = model.client()): EtcdEngine {
  return new EtcdEngine({
    cluster,
    prefix: '/registry',
    dialect: 'orch',
    timers,
    processId: randomUUID(),
    tokenKey: new Uint8Array(32).fill(3),
    warn: () => {},
  });
}
