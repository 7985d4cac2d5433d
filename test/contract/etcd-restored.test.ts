// What an engine makes of a real etcd that was restored from a backup: it notices, also where the restored one has come as far as
// the one before or further, and it does not wait for ever with what the one before had given it.
import { randomBytes, randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { EtcdAccess } from '../../storage/etcd/etcd-access.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { EtcdEngine } from '../../storage/etcd/etcd-engine.ts';
import { EtcdGateway } from '../server/etcd-gateway.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { TcpProxy } from '../server/tcp-proxy.ts';

const { timers } = realEnvironment;
/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

const onEtcd = testNeeding(test, ['etcd']).serial;
const LOOK_MS = 20;
const USER = { name: 'servers', password: 'secret' };

interface Followed {
  readonly engine: EtcdEngine;
  readonly told: readonly number[];
  readonly lost: () => Error | undefined;
}

/** An engine that follows, as a server's does. */
async function followed(t: ExecutionContext, access: EtcdAccess): Promise<Followed> {
  const engine = new EtcdEngine({
    cluster: new EtcdClient(access, timers),
    prefix: '/registry',
    dialect: 'orch',
    timers,
    processId: randomUUID(),
    tokenKey: randomBytes(32),
    warn: () => {},
  });
  t.teardown(() => engine.close());
  const told: number[] = [];
  let lost: Error | undefined;
  await engine.open();
  await engine.follow({
    value: () => {},
    again: () => {},
    revision: (revision) => void told.push(revision),
    lost: (error) => {
      lost = error;
    },
  });
  return { engine, told, lost: () => lost };
}

/** Makes an object of a new name. */
async function write({ engine }: Followed, count = 1): Promise<number> {
  let last = 0;
  for (let index = 0; index < count; index++) {
    const made = { key: `core/configmaps/a/${randomUUID()}`, expect: 0, value: new Uint8Array(1) };
    last = (await engine.commit([{ guards: [], writes: [made], place: 0 }])).revision;
  }
  return last;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

async function startMember(t: ExecutionContext, more: readonly string[] = []): Promise<EtcdMember> {
  const member = await EtcdMember.start('http', more);
  t.teardown(() => member.dispose());
  return member;
}

for (const [more, how] of [
  [0, 'as far as'],
  [3, 'further than'],
] as const) {
  onEtcd(
    `a restored etcd that has come ${how} the one before is noticed by who only follows, before it is told anything`,
    async (t) => {
      const member = await startMember(t);
      const way = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(member.server).port) });
      t.teardown(() => way.close());
      const one = await followed(t, { servers: [member.server] });
      const other = await followed(t, { servers: [`http://127.0.0.1:${way.port}`] });
      await write(one, 2);
      await EtcdMember.backUp([member]);
      const last = await write(one, 5);
      await until(() => other.told.includes(last));
      const before = other.told.length;
      way.set('cut');
      await EtcdMember.restore([member]);
      const next = await followed(t, { servers: [member.server] });
      t.is(await write(next, 5 + more), last + more);
      way.set('open');
      await until(() => other.lost() !== undefined);
      t.regex(other.lost()!.message, /another history/);
      t.is(other.told.length, before);
      await t.throwsAsync(write(one), { message: /changed by somebody else/ });
    },
  );
}

onEtcd('a restored etcd is noticed by the answer to a write of who had written nothing since the backup', async (t) => {
  const member = await startMember(t);
  const way = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(member.server).port) });
  t.teardown(() => way.close());
  const one = await followed(t, { servers: [member.server] });
  const other = await followed(t, { servers: [`http://127.0.0.1:${way.port}`] });
  await write(other);
  await EtcdMember.backUp([member]);
  const last = await write(one, 5);
  await until(() => other.told.includes(last));
  way.set('cut');
  await EtcdMember.restore([member]);
  const writing = write(other);
  way.set('open');
  await t.throwsAsync(writing, { message: /etcd went back|another history/ });
});

onEtcd('a token that a restored etcd has not given is given up', async (t) => {
  const member = await startMember(t, ['--bcrypt-cost', '4']);
  await new EtcdGateway([member]).askForNames('root-secret', USER, '/registry/');
  const access = { servers: [member.server], ...USER };
  await write(await followed(t, access));
  await EtcdMember.backUp([member]);
  const late = await followed(t, access);
  await write(late, 50);
  // It is of a place in the log that the restored one has not come to.
  const cluster = new EtcdClient(access, timers);
  t.teardown(() => cluster.close());
  const { revision } = await cluster.range({ key: '/registry/orch/identity' });
  await EtcdMember.restore([member]);
  let now = revision;
  while (now >= revision) {
    const answer = await cluster.range({ key: '/registry/orch/identity' }).catch(() => undefined);
    now = answer?.revision ?? now;
  }
  t.true(now < revision);
  await t.throwsAsync(late.engine.readBarrier(), { message: /etcd went back/ });
});
