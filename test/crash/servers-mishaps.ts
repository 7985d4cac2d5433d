// What can befall servers on an etcd: processes that are killed or stand still, ways that are cut or stall, members cut from each other, a
// compaction by somebody else, an etcd that is full, that forgets whom it let in, that is restored from a backup. Each can be mended.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { base64 } from '../server/etcd-gateway.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import type { WayState } from '../server/tcp-proxy.ts';
import { QUOTA_BYTES, type ServersCluster } from './servers-cluster.ts';

const FILLING_BYTES = 1_000_000;
const FILLING = 'filling/';
const FILLING_END = 'filling0';

/** Undoes a mishap. */
type Mend = () => Promise<void> | void;

export interface Mishap {
  /** Before anybody writes. */
  readonly prepare?: (cluster: ServersCluster) => Promise<void>;
  /** `onLoss`: to be called when what was acknowledged since `prepare` is lost, and nothing can be acknowledged. */
  readonly befall: (cluster: ServersCluster, random: SeededRandom, onLoss: () => void) => Promise<Mend>;
}

function oneOf<T>(some: readonly T[], random: SeededRandom): T {
  return some[random.below(some.length)]!;
}

function stopped(signalled: { signal(signal: 'SIGSTOP' | 'SIGCONT'): void }): Mend {
  signalled.signal('SIGSTOP');
  return () => signalled.signal('SIGCONT');
}

async function killed(...members: readonly EtcdMember[]): Promise<Mend> {
  for (const member of members) await member.kill9();
  return () => {
    for (const member of members) member.go();
  };
}

function turned({ ways }: ServersCluster, random: SeededRandom, state: WayState): Mend {
  const own = oneOf(ways, random);
  for (const way of own) way.set(state);
  return () => {
    for (const way of own) way.set('open');
  };
}

function cutFromPeers({ network, members }: ServersCluster, member: EtcdMember): Mend {
  const index = members.indexOf(member);
  network!.cut(index);
  return () => network!.join(index);
}

async function filled({ gateway, members }: ServersCluster): Promise<Mend> {
  const value = Buffer.alloc(FILLING_BYTES, 1).toString('base64');
  for (let index = 0; index < 2 * (QUOTA_BYTES / FILLING_BYTES); index++) {
    const body = { key: base64(`${FILLING}${index}`), value };
    const put = await gateway.ask(members[0]!, 'kv/put', body).catch((error: Error) => error);
    if (put instanceof Error && put.message.includes('space exceeded')) break;
  }
  return async () => {
    const range = { key: base64(FILLING), range_end: base64(FILLING_END) };
    const { header } = (await gateway.askAny('kv/deleterange', range)) as { header: { revision: string } };
    await gateway.askAny('kv/compaction', { revision: header.revision, physical: true }).catch(() => {});
    for (const member of members) await gateway.ask(member, 'maintenance/defragment', {});
    const { alarms = [] } = (await gateway.askAny('maintenance/alarm', { action: 'GET' })) as {
      readonly alarms?: readonly { readonly memberID: string }[];
    };
    for (const { memberID } of alarms) {
      await gateway.askAny('maintenance/alarm', { action: 'DEACTIVATE', memberID, alarm: 'NOSPACE' });
    }
  };
}

async function compactedByOthers({ gateway }: ServersCluster): Promise<Mend> {
  const { header } = (await gateway.askAny('kv/range', { key: base64(FILLING) })) as { header: { revision: string } };
  await gateway.askAny('kv/compaction', { revision: header.revision, physical: true }).catch(() => {});
  return () => {};
}

/** Members keep tokens in memory: one after the other loses them, and the quorum never. */
async function forgetful({ gateway, members }: ServersCluster): Promise<Mend> {
  for (const member of members) {
    await member.kill9();
    member.go();
    await gateway.reached(member);
  }
  return () => {};
}

/** By the name that a report has. */
const MISHAPS: Readonly<Record<string, Mishap>> = {
  'a server is killed': {
    befall: async ({ servers }, random) => {
      const server = oneOf(servers, random);
      await server.kill9();
      return () => server.restart();
    },
  },
  'a server stands still': {
    befall: async ({ servers }, random) => {
      const { pid } = oneOf(servers, random);
      return stopped({ signal: (signal) => void process.kill(pid, signal) });
    },
  },
  'a member is killed': { befall: async ({ members }, random) => killed(oneOf(members, random)) },
  'the leader is killed': { befall: async (cluster) => killed(await cluster.leader()) },
  'a member stands still': { befall: async ({ members }, random) => stopped(oneOf(members, random)) },
  'the leader stands still': { befall: async (cluster) => stopped(await cluster.leader()) },
  'all members are killed': { befall: async ({ members }) => killed(...members) },
  'a server is cut off': { befall: async (cluster, random) => turned(cluster, random, 'cut') },
  'the ways of a server stall': { befall: async (cluster, random) => turned(cluster, random, 'stalled') },
  'somebody else compacts': { befall: compactedByOthers },
  'etcd is full': { befall: filled },
  'the members forget their tokens': { befall: forgetful },
  'etcd is restored from a backup': {
    prepare: ({ members }) => EtcdMember.backUp(members),
    befall: async ({ members }, _random, onLoss) => {
      await EtcdMember.restore(members, onLoss);
      return () => {};
    },
  },
};

/** Those that need the members to be in namespaces of their own. */
const MISHAPS_OF_PEERS: Readonly<Record<string, Mishap>> = {
  'a member is cut from its peers': {
    befall: async (cluster, random) => cutFromPeers(cluster, oneOf(cluster.members, random)),
  },
  'the leader is cut from its peers': { befall: async (cluster) => cutFromPeers(cluster, await cluster.leader()) },
};

/** What can befall this cluster. `say` hears of what is left out. */
export function mishapsOf({ network }: ServersCluster, say: (line: string) => void): Readonly<Record<string, Mishap>> {
  if (network !== undefined) return { ...MISHAPS, ...MISHAPS_OF_PEERS };
  const names = Object.keys(MISHAPS_OF_PEERS).join('; ');
  say(`left out, since no network namespaces can be made here (which needs root and Debian's iproute2): ${names}`);
  return MISHAPS;
}
