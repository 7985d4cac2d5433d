// Real members of an etcd, for as long as a test lasts: one, or several that are a cluster. On loopback, or where they are told to live.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/server/free-port.ts';
import { guardProcess } from './process-guard.ts';

interface Place {
  readonly name: string;
  /** As `--store-servers` has it. */
  readonly server: string;
  readonly peer: string;
  readonly within: readonly string[];
}

/** Where a member lives. */
export interface MemberHome {
  readonly host: string;
  /** Where its peers find it. */
  readonly peerHost: string;
  /** A command that runs the one behind it there. */
  readonly within: readonly string[];
}

export interface ClusterSettings {
  readonly scheme?: 'http' | 'https';
  /** One for each member; loopback where nothing is said. */
  readonly homes?: readonly MemberHome[] | undefined;
}

const LOOPBACK: MemberHome = { host: '127.0.0.1', peerHost: '127.0.0.1', within: [] };

export class EtcdMember {
  readonly #directory = mkdtempSync(join(tmpdir(), 'etcd-'));
  readonly #command: readonly string[];
  #process: ChildProcess | undefined;
  /** As `--store-servers` has it. */
  readonly server: string;

  private constructor({ name, server, peer, within }: Place, all: readonly Place[], more: readonly string[]) {
    this.server = server;
    const cluster = all.map((place) => `${place.name}=${place.peer}`).join(',');
    this.#command = [
      ...[...within, 'etcd', '--name', name, '--data-dir', this.#directory],
      ...['--listen-client-urls', server, '--advertise-client-urls', server],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', cluster],
      ...['--log-level', 'error', ...more],
    ];
  }

  /** `more`: further arguments. Does not wait until it answers: a server does. */
  static async start(scheme: 'http' | 'https' = 'http', more: readonly string[] = []): Promise<EtcdMember> {
    const [member] = await EtcdMember.startCluster(1, more, { scheme });
    return member!;
  }

  /** So many that are one cluster. */
  static async startCluster(
    count: number,
    more: readonly string[] = [],
    { scheme = 'http', homes }: ClusterSettings = {},
  ): Promise<readonly EtcdMember[]> {
    const places: Place[] = [];
    for (let number = 0; number < count; number++) {
      const [client, peer] = [await freePort(), await freePort()];
      const { host, peerHost, within } = homes?.[number] ?? LOOPBACK;
      places.push({
        name: `m${number}`,
        server: `${scheme}://${host}:${client}`,
        peer: `http://${peerHost}:${peer}`,
        within,
      });
    }
    const members = places.map((place) => new EtcdMember(place, places, more));
    for (const member of members) member.go();
    return members;
  }

  /** Starts the process, also again after `kill9`. */
  go(): void {
    const [program, ...args] = this.#command;
    const member = spawn(program!, args, { stdio: 'ignore' });
    this.#process = member;
    guardProcess(member, [this.#directory, this.#backup]);
  }

  /** Lets the process stand still, and go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal);
  }

  /** Ends the process without a chance to do anything. */
  async kill9(): Promise<void> {
    const running = this.#process;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  }

  /** Ends all members of a cluster, keeps their data as they are for `restore`, and starts them. */
  static async backUp(members: readonly EtcdMember[]): Promise<void> {
    for (const member of members) await member.kill9();
    for (const member of members) {
      rmSync(member.#backup, { recursive: true, force: true });
      cpSync(member.#directory, member.#backup, { recursive: true });
      member.go();
    }
  }

  /** Everything is again as it was at `backUp`. `whileGone`: called when nothing can be acknowledged any more. */
  static async restore(members: readonly EtcdMember[], whileGone = (): void => {}): Promise<void> {
    for (const member of members) await member.kill9();
    whileGone();
    for (const member of members) {
      rmSync(member.#directory, { recursive: true });
      cpSync(member.#backup, member.#directory, { recursive: true });
      member.go();
    }
  }

  get #backup(): string {
    return `${this.#directory}-backup`;
  }

  /** Ends the process and removes its data. */
  async dispose(): Promise<void> {
    await this.kill9();
    for (const folder of [this.#directory, this.#backup]) rmSync(folder, { recursive: true, force: true });
  }
}
