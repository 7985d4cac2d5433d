// The ranges of services in etcd, looked after while a server runs: what keeps one look from writing is no more than said.
import test from 'ava';
import { realEnvironment } from '../../../../runtime/real-environment.ts';
import { originalLayout } from '../../../../storage/etcd/original/assembled-engine.ts';
import { RangeKeeping } from '../../../../storage/etcd/original/range-keeping.ts';
import { Patience } from '../../../../storage/etcd/patience.ts';
import { EtcdModel } from '../../../simulation/etcd-model.ts';
import { encryption, KMS } from '../encryption/encryption-world.ts';
import { settingsFor } from './original-rig.ts';

const { timers } = realEnvironment;
const ADDRESSES = '/registry/ranges/serviceips';

test('a range that no key can be had for is said not to be looked after, and is written once one can', async (t) => {
  // The model's timers keep no process alive.
  const alive = setInterval(() => {}, 60_000);
  t.teardown(() => clearInterval(alive));
  let isAway = true;
  const answer = (bytes: Uint8Array): Promise<Uint8Array> =>
    isAway ? Promise.reject(new Error('the key service is away')) : Promise.resolve(bytes);
  const service = { encrypt: answer, decrypt: answer, close: () => {} };
  const providers = [KMS, { kind: 'identity' as const }];
  const opened = encryption(providers, { service, resource: 'services', prefix: 'k8s:enc:' });
  const layout = originalLayout(settingsFor({ encryption: opened }));
  const model = new EtcdModel({
    after: (delayMs, callback) => void timers.after(delayMs, callback),
    nextFate: () => ({ delayMs: 0, loses: undefined }),
    watchDelayMs: () => 0,
  });
  const said: string[] = [];
  const warn = (text: string): void => void said.push(text);
  const cluster = model.client();
  const keeping = new RangeKeeping({ ...layout, cluster, warn, patience: new Patience(timers, warn) });
  layout.ranges.noteService('core/services/default/s', {
    spec: { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5'] },
  });
  await keeping.repair();
  t.deepEqual(said, ['the ranges of services were not looked after: the key service is away']);
  isAway = false;
  await keeping.repair();
  t.is((await cluster.range({ key: ADDRESSES })).pairs.length, 1);
  t.is(said.length, 1);
});
