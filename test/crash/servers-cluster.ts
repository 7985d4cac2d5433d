// Two servers on three members of a real etcd that asks for names, each way between them through a proxy; the members in namespaces of
// their own where this machine lets them be made. Owns the processes. What befalls them is in servers-mishaps.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/server/free-port.ts';
import { EtcdGateway, type EtcdUser, leaderOf } from '../server/etcd-gateway.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { MemberNetwork } from '../server/member-network.ts';
import { ServerProcess } from '../server/server-process.ts';
import { TcpProxy } from '../server/tcp-proxy.ts';

const MEMBERS = 3;
const SERVERS = 2;
/** Of the members' database. */
export const QUOTA_BYTES = 48 * 1024 * 1024;
const ROOT_PASSWORD = 'root-password';
const USER: EtcdUser = { name: 'servers', password: 'servers-password' };
const PREFIX = '/registry/';

export class ServersCluster {
  readonly members: readonly EtcdMember[];
  readonly servers: readonly ServerProcess[];
  /** Of each server, one to each member. */
  readonly ways: readonly (readonly TcpProxy[])[];
  readonly gateway: EtcdGateway;
  /** Absent where none can be made. */
  readonly network: MemberNetwork | undefined;
  readonly #folder: string;

  private constructor(
    folder: string,
    network: MemberNetwork | undefined,
    members: readonly EtcdMember[],
    ways: readonly (readonly TcpProxy[])[],
    servers: readonly ServerProcess[],
  ) {
    this.#folder = folder;
    this.network = network;
    this.members = members;
    this.ways = ways;
    this.servers = servers;
    this.gateway = new EtcdGateway(members);
  }

  /** All running, and ready. `args`: of the servers, beside where their store is. */
  static async start(args: readonly string[]): Promise<ServersCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'orch-servers-'));
    const network = MemberNetwork.make(MEMBERS);
    // Names are asked for often, and are no secrets here.
    const more = ['--quota-backend-bytes', String(QUOTA_BYTES), '--bcrypt-cost', '4'];
    const members = await EtcdMember.startCluster(MEMBERS, more, { homes: network?.homes });
    const ways: TcpProxy[][] = [];
    const servers: ServerProcess[] = [];
    for (let index = 0; index < SERVERS; index++) {
      const own = await Promise.all(members.map((member) => wayTo(member)));
      ways.push(own);
      const settings = { args: ['--store-servers', storeOf(own, index), ...args] };
      servers.push(new ServerProcess(join(folder, String(index)), await freePort(), settings));
    }
    const cluster = new ServersCluster(folder, network, members, ways, servers);
    try {
      await cluster.gateway.askForNames(ROOT_PASSWORD, USER, PREFIX);
      for (const server of servers) await server.restart();
    } catch (error) {
      await cluster.dispose();
      throw error;
    }
    return cluster;
  }

  /** The member that leads; some other while there is none that says so. */
  async leader(): Promise<EtcdMember> {
    return (await leaderOf(this.members)) ?? this.members[0]!;
  }

  async dispose(): Promise<void> {
    for (const server of this.servers) await server.dispose();
    for (const way of this.ways.flat()) way.close();
    for (const member of this.members) await member.dispose();
    await this.network?.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function wayTo({ server }: EtcdMember): Promise<TcpProxy> {
  const { hostname, port } = new URL(server);
  return TcpProxy.start({ host: hostname, port: Number(port) });
}

/** Each server begins at another member. */
function storeOf(ways: readonly TcpProxy[], first: number): string {
  const [one, ...others] = [...ways.slice(first), ...ways.slice(0, first)].map(({ port }) => `127.0.0.1:${port}`);
  return [`http://${USER.name}:${USER.password}@${one}`, ...others.map((other) => `http://${other}`)].join(',');
}
