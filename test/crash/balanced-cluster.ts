// Three servers on three members of a real etcd, with one certificate and one token, behind a balancer of TCP connections; and what
// befalls them in turn. Owns the processes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/server/free-port.ts';
import { deposeLeader } from '../server/etcd-gateway.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { HttpsClient } from '../server/https-client.ts';
import { ServerProcess } from '../server/server-process.ts';
import { TcpBalancer } from '../server/tcp-balancer.ts';
import { testAuthority } from '../server/test-authority.ts';

const COUNT = 3;
const TOKEN = 'balanced-token';
const LASTS_MS = 2500;
const SILENT_AFTER_MS = 1500;

export class BalancedCluster {
  readonly members: readonly EtcdMember[];
  readonly servers: readonly ServerProcess[];
  readonly balancer: TcpBalancer;
  /** Of the balancer, for kubectl and client libraries. */
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #caPem: string;

  private constructor(
    folder: string,
    caPem: string,
    members: readonly EtcdMember[],
    servers: readonly ServerProcess[],
    balancer: TcpBalancer,
  ) {
    this.#folder = folder;
    this.#caPem = caPem;
    this.members = members;
    this.servers = servers;
    this.balancer = balancer;
    this.kubeconfig = join(folder, 'balanced.conf');
    writeFileSync(this.kubeconfig, kubeconfigText(balancer.url, caPem), { mode: 0o600 });
  }

  /** All running, and ready. */
  static async start(): Promise<BalancedCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'orch-balanced-'));
    const authority = testAuthority(folder);
    const { certFile, keyFile } = authority.issue('orch', ['127.0.0.1']);
    const tokens = join(folder, 'tokens.csv');
    writeFileSync(tokens, `${TOKEN},admin,1,system:masters\n`, { mode: 0o600 });
    const members = await EtcdMember.startCluster(COUNT);
    const servers: ServerProcess[] = [];
    try {
      for (let index = 0; index < COUNT; index++) {
        const turned = [...members.slice(index), ...members.slice(0, index)];
        const args = [
          ...['--store-servers', turned.map(({ server }) => server).join(','), '--api-dialect', 'kubernetes'],
          ...['--shutdown-delay-duration', '2s', '--request-timeout', '8s', '--token-auth-file', tokens],
          ...['--tls-cert-file', certFile, '--tls-private-key-file', keyFile],
        ];
        const server = new ServerProcess(join(folder, String(index)), await freePort(), { args });
        servers.push(server);
        await server.restart();
      }
      const ports = servers.map(({ port }) => port);
      const balancer = await TcpBalancer.start({ caPem: authority.certPem, ports, silentAfterMs: SILENT_AFTER_MS });
      return new BalancedCluster(folder, authority.certPem, members, servers, balancer);
    } catch (error) {
      await ended(folder, servers, members);
      throw error;
    }
  }

  /** Through the balancer, or straight to a server. */
  client(url = this.balancer.url): HttpsClient {
    return new HttpsClient(url, this.#caPem, TOKEN);
  }

  async dispose(): Promise<void> {
    this.balancer.close();
    await ended(this.#folder, this.servers, this.members);
  }
}

async function ended(folder: string, servers: readonly ServerProcess[], members: readonly EtcdMember[]): Promise<void> {
  for (const server of servers) await server.dispose();
  for (const member of members) await member.dispose();
  rmSync(folder, { recursive: true, force: true });
}

function kubeconfigText(server: string, caPem: string): string {
  const ca = Buffer.from(caPem).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'balanced',
    clusters: [{ name: 'balanced', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'admin', user: { token: TOKEN } }],
    contexts: [{ name: 'balanced', context: { cluster: 'balanced', user: 'admin' } }],
  });
}

type Incident = (cluster: BalancedCluster, turn: number) => Promise<void>;

const lasts = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LASTS_MS));

/** One begins when the one before is over: of three there are always two. */
export const INCIDENTS: Readonly<Record<string, Incident>> = {
  'a server is killed': async ({ servers }, turn) => {
    const server = servers[turn % COUNT]!;
    await server.kill9();
    await lasts();
    await server.restart();
  },
  'a member is killed': async ({ members }, turn) => {
    const member = members[turn % COUNT]!;
    await member.kill9();
    await lasts();
    member.go();
  },
  'a server stands still': async ({ servers }, turn) => {
    const { pid } = servers[turn % COUNT]!;
    process.kill(pid, 'SIGSTOP');
    await lasts();
    process.kill(pid, 'SIGCONT');
  },
  'a member stands still': async ({ members }, turn) => {
    const member = members[turn % COUNT]!;
    member.signal('SIGSTOP');
    await lasts();
    member.signal('SIGCONT');
  },
  'the balancer cuts a server': async ({ servers, balancer }, turn) => balancer.cut(servers[turn % COUNT]!.port),
  'the leading member is deposed': ({ members }) => deposeLeader(members),
  'a server leaves': async ({ servers }, turn) => {
    const server = servers[turn % COUNT]!;
    await server.stop();
    await server.restart();
  },
};
