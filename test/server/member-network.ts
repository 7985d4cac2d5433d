// A network of members in namespaces of their own: one bridge leads to the clients, another to the peers, so that a member can be cut
// from its peers while its clients still reach it. Needs `ip` and the rights of root. Owns what it makes; all of it is gone at the end,
// also after the end of this process by a signal that nobody can catch.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { MemberHome } from './etcd-member.ts';

/** Networks that may be on one machine at a time. */
const NETWORKS_MAX = 256;
/** For tests of networks (RFC 2544): one network of the machine has one of these. */
const CLIENT_NET = '198.18';
const PEER_NET = '198.19';
const FIRST_HOST = 10;
/** Waits for the end of its pipe, then ends what runs in the namespaces and removes them; their ends of the bridges go with them. */
const GUARD = `read -r _
for name in $1; do ip netns pids "$name" | xargs -r kill -9; ip netns del "$name"; done
for name in $2; do ip link del "$name"; done`;

interface Names {
  readonly namespaces: readonly string[];
  readonly clients: string;
  readonly peers: string;
}

export class MemberNetwork {
  readonly homes: readonly MemberHome[];
  readonly #names: Names;
  readonly #guard: ChildProcess;

  private constructor(number: number, names: Names, guard: ChildProcess) {
    this.#names = names;
    this.#guard = guard;
    this.homes = names.namespaces.map((namespace, index) => ({
      host: addressOf(CLIENT_NET, number, index),
      peerHost: addressOf(PEER_NET, number, index),
      within: ['ip', 'netns', 'exec', namespace],
    }));
  }

  /** Homes for so many members; undefined where this process cannot make them. */
  static make(count: number): MemberNetwork | undefined {
    const number = claimedNumber();
    if (number === undefined) return undefined;
    const names = namesOf(number, count);
    const guard = guardOf(names);
    try {
      build(number, names);
      return new MemberNetwork(number, names, guard);
    } catch {
      guard.stdin?.end();
      return undefined;
    }
  }

  /** Nothing gets from this member to its peers, nor back. Connections stay and are silent. */
  cut(index: number): void {
    ip('link', 'set', portOf(this.#names.peers, index), 'nomaster');
  }

  join(index: number): void {
    ip('link', 'set', portOf(this.#names.peers, index), 'master', this.#names.peers);
  }

  async dispose(): Promise<void> {
    const ended = once(this.#guard, 'exit');
    this.#guard.ref();
    this.#guard.stdin?.end();
    await ended;
  }
}

function addressOf(net: string, number: number, index: number): string {
  return `${net}.${number}.${FIRST_HOST + index}`;
}

function portOf(bridge: string, index: number): string {
  return `${bridge}m${index}`;
}

function namesOf(number: number, count: number): Names {
  const namespaces = Array.from({ length: count }, (_, index) => `orch-${number}-${index}`);
  return { namespaces, clients: `orch-c${number}`, peers: `orch-p${number}` };
}

/** The bridge to the clients is made by whoever has the number. */
function claimedNumber(): number | undefined {
  const first = process.pid % NETWORKS_MAX;
  for (let tries = 0; tries < NETWORKS_MAX; tries++) {
    const number = (first + tries) % NETWORKS_MAX;
    try {
      ip('link', 'add', namesOf(number, 0).clients, 'type', 'bridge');
      return number;
    } catch (error) {
      if (!String((error as { readonly stderr?: unknown }).stderr).includes('exists')) return undefined;
    }
  }
  return undefined;
}

function guardOf({ namespaces, clients, peers }: Names): ChildProcess {
  const lists = [namespaces.join(' '), `${clients} ${peers}`];
  const guard = spawn('sh', ['-c', GUARD, 'guard', ...lists], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  (guard.stdin as Socket).unref();
  return guard;
}

function build(number: number, { namespaces, clients, peers }: Names): void {
  ip('address', 'add', `${CLIENT_NET}.${number}.1/24`, 'dev', clients);
  ip('link', 'add', peers, 'type', 'bridge');
  for (const bridge of [clients, peers]) ip('link', 'set', bridge, 'up');
  for (const [index, namespace] of namespaces.entries()) {
    ip('netns', 'add', namespace);
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
    for (const [bridge, net, inside] of [
      [clients, CLIENT_NET, 'clients'],
      [peers, PEER_NET, 'peers'],
    ] as const) {
      const port = portOf(bridge, index);
      ip('link', 'add', port, 'type', 'veth', 'peer', 'name', inside, 'netns', namespace);
      ip('link', 'set', port, 'master', bridge, 'up');
      ip('-n', namespace, 'address', 'add', `${addressOf(net, number, index)}/24`, 'dev', inside);
      ip('-n', namespace, 'link', 'set', inside, 'up');
    }
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
