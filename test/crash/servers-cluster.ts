// Servers on members of a real etcd, and what can befall them: processes that are killed or stand still, ways that are cut or
// stall, a compaction by somebody else, an etcd that is full. Each mishap can be mended. Owns the processes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/free-port.ts';
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { ServerProcess } from '../server/server-process.ts';
import { TcpProxy } from '../server/tcp-proxy.ts';

const MEMBERS = 3;
const SERVERS = 2;
const QUOTA_BYTES = 48 * 1024 * 1024;
const FILLING_BYTES = 1_000_000;
const FILLING = Buffer.from('filling/');
const FILLING_END = Buffer.from('filling0');
const LOOK_MS = 50;

/** Undoes a mishap. */
type Mend = () => Promise<void> | void;
type Mishap = (cluster: ServersCluster, random: SeededRandom) => Promise<Mend>;

export class ServersCluster {
  readonly members: readonly EtcdMember[];
  readonly servers: readonly ServerProcess[];
  /** Of each server, one to each member. */
  readonly ways: readonly (readonly TcpProxy[])[];
  readonly #folder: string;

  private constructor(
    folder: string,
    members: readonly EtcdMember[],
    servers: readonly ServerProcess[],
    ways: readonly (readonly TcpProxy[])[],
  ) {
    this.#folder = folder;
    this.members = members;
    this.servers = servers;
    this.ways = ways;
  }

  /** All running, and ready. `args`: of the servers, beside where their store is. */
  static async start(args: readonly string[]): Promise<ServersCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'orch-servers-'));
    const members = await EtcdMember.startCluster(MEMBERS, ['--quota-backend-bytes', String(QUOTA_BYTES)]);
    const ways: TcpProxy[][] = [];
    const servers: ServerProcess[] = [];
    for (let index = 0; index < SERVERS; index++) {
      const own = await Promise.all(members.map(({ server }) => TcpProxy.start(Number(new URL(server).port))));
      // Each begins at another member.
      const turned = [...own.slice(index), ...own.slice(0, index)];
      const store = turned.map(({ port }) => `http://127.0.0.1:${port}`).join(',');
      ways.push(own);
      servers.push(
        new ServerProcess(join(folder, String(index)), await freePort(), { args: ['--store-servers', store, ...args] }),
      );
    }
    const cluster = new ServersCluster(folder, members, servers, ways);
    try {
      for (const server of servers) await server.restart();
    } catch (error) {
      await cluster.dispose();
      throw error;
    }
    return cluster;
  }

  /** The member that leads; undefined while there is none that says so. */
  leader(): Promise<EtcdMember | undefined> {
    return leaderOf(this.members);
  }

  async dispose(): Promise<void> {
    for (const server of this.servers) await server.dispose();
    for (const way of this.ways.flat()) way.close();
    for (const member of this.members) await member.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The member that leads; undefined while there is none that says so. */
export async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember | undefined> {
  for (const member of members) {
    const status = await askGateway(member, 'maintenance/status', {}).catch(() => undefined);
    const { header, leader } = (status ?? {}) as { header?: { member_id?: string }; leader?: string };
    if (leader !== undefined && leader === header?.member_id) return member;
  }
  return undefined;
}

/** The members that answer, tried in turn until one does. */
async function askAny(cluster: ServersCluster, what: string, body: object): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    try {
      return await askGateway(cluster.members[tries % MEMBERS]!, what, body);
    } catch (error) {
      if (tries > 100 * MEMBERS) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

async function askGateway({ server }: EtcdMember, what: string, body: object): Promise<unknown> {
  const answer = await fetch(`${server}/v3/${what}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });
  const json: unknown = await answer.json();
  if (!answer.ok) throw new Error(`etcd answered ${what} with ${JSON.stringify(json).slice(0, 300)}`);
  return json;
}

function oneOf<T>(some: readonly T[], random: SeededRandom): T {
  return some[random.below(some.length)]!;
}

function stopped(signalled: { signal(signal: 'SIGSTOP' | 'SIGCONT'): void }): Mend {
  signalled.signal('SIGSTOP');
  return () => signalled.signal('SIGCONT');
}

async function killed(member: EtcdMember): Promise<Mend> {
  await member.kill9();
  return () => member.go();
}

async function filled(cluster: ServersCluster): Promise<Mend> {
  const value = Buffer.alloc(FILLING_BYTES, 1).toString('base64');
  for (let index = 0; index < 2 * (QUOTA_BYTES / FILLING_BYTES); index++) {
    const key = Buffer.from(`filling/${index}`).toString('base64');
    const put = await askGateway(cluster.members[0]!, 'kv/put', { key, value }).catch((error: Error) => error);
    if (put instanceof Error && put.message.includes('space exceeded')) break;
  }
  return async () => {
    const range = { key: FILLING.toString('base64'), range_end: FILLING_END.toString('base64') };
    const { header } = (await askAny(cluster, 'kv/deleterange', range)) as { header: { revision: string } };
    await compacted(cluster, Number(header.revision));
    for (const member of cluster.members) await askGateway(member, 'maintenance/defragment', {});
    const { alarms = [] } = (await askAny(cluster, 'maintenance/alarm', { action: 'GET' })) as {
      readonly alarms?: readonly { readonly memberID: string }[];
    };
    for (const { memberID } of alarms) {
      await askAny(cluster, 'maintenance/alarm', { action: 'DEACTIVATE', memberID, alarm: 'NOSPACE' });
    }
  };
}

async function compacted(cluster: ServersCluster, revision: number): Promise<void> {
  await askAny(cluster, 'kv/compaction', { revision: String(revision), physical: true }).catch(() => {});
}

/** What can befall, by the name that a report has. */
export const MISHAPS: Readonly<Record<string, Mishap>> = {
  'a server is killed': async ({ servers }, random) => {
    const server = oneOf(servers, random);
    await server.kill9();
    return () => server.restart();
  },
  'a server stands still': async ({ servers }, random) => {
    const { pid } = oneOf(servers, random);
    return stopped({ signal: (signal) => void process.kill(pid, signal) });
  },
  'a member is killed': async ({ members }, random) => killed(oneOf(members, random)),
  'the leader is killed': async (cluster) => killed((await cluster.leader()) ?? cluster.members[0]!),
  'a member stands still': async ({ members }, random) => stopped(oneOf(members, random)),
  'the leader stands still': async (cluster) => stopped((await cluster.leader()) ?? cluster.members[0]!),
  'all members are killed': async ({ members }) => {
    for (const member of members) await member.kill9();
    return () => {
      for (const member of members) member.go();
    };
  },
  'a server is cut off': async ({ ways }, random) => {
    const own = oneOf(ways, random);
    for (const way of own) way.set('cut');
    return () => {
      for (const way of own) way.set('open');
    };
  },
  'the ways of a server stall': async ({ ways }, random) => {
    const own = oneOf(ways, random);
    for (const way of own) way.set('stalled');
    return () => {
      for (const way of own) way.set('open');
    };
  },
  'somebody else compacts': async (cluster) => {
    const { header } = (await askAny(cluster, 'kv/range', { key: FILLING.toString('base64') })) as {
      header: { revision: string };
    };
    await compacted(cluster, Number(header.revision));
    return () => {};
  },
  'etcd is full': filled,
};
