// Real members of an etcd on loopback, for as long as a test lasts: one, or several that are a cluster.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../bench/free-port.ts';

interface Place {
  readonly name: string;
  /** As `--store-servers` has it. */
  readonly server: string;
  readonly peer: string;
}

export class EtcdMember {
  readonly #directory = mkdtempSync(join(tmpdir(), 'etcd-'));
  readonly #arguments: readonly string[];
  #process: ChildProcess | undefined;
  /** As `--store-servers` has it. */
  readonly server: string;

  private constructor({ name, server, peer }: Place, all: readonly Place[], more: readonly string[]) {
    this.server = server;
    const cluster = all.map((place) => `${place.name}=${place.peer}`).join(',');
    this.#arguments = [
      ...['--name', name, '--data-dir', this.#directory],
      ...['--listen-client-urls', server, '--advertise-client-urls', server],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', cluster],
      ...['--log-level', 'error', ...more],
    ];
  }

  /** `more`: further arguments. Does not wait until it answers: a server does. */
  static async start(scheme: 'http' | 'https' = 'http', more: readonly string[] = []): Promise<EtcdMember> {
    const [member] = await EtcdMember.startCluster(1, more, scheme);
    return member!;
  }

  /** So many that are one cluster. */
  static async startCluster(
    count: number,
    more: readonly string[] = [],
    scheme: 'http' | 'https' = 'http',
  ): Promise<readonly EtcdMember[]> {
    const places: Place[] = [];
    for (let number = 0; number < count; number++) {
      const [client, peer] = [await freePort(), await freePort()];
      places.push({
        name: `m${number}`,
        server: `${scheme}://127.0.0.1:${client}`,
        peer: `http://127.0.0.1:${peer}`,
      });
    }
    const members = places.map((place) => new EtcdMember(place, places, more));
    for (const member of members) member.go();
    return members;
  }

  /** Starts the process, also again after `kill9`. */
  go(): void {
    const member = spawn('etcd', this.#arguments, { stdio: 'ignore' });
    this.#process = member;
    if (member.pid !== undefined) this.#guard(member, member.pid);
  }

  /** A test runner that is killed runs no hook: whoever waits for the end of its pipe ends the member and removes its data. */
  #guard(member: ChildProcess, processId: number): void {
    const script = 'read -r _; kill -9 "$1"; rm -rf "$2" "$3"';
    const guard = spawn('sh', ['-c', script, 'guard', String(processId), this.#directory, this.#backup], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    // The member's number may be another process's soon.
    member.once('exit', () => guard.kill('SIGKILL'));
    guard.unref();
    (guard.stdin as Socket).unref();
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

  /** Ends the process and keeps its data as they are, for `restore`. */
  async backUp(): Promise<void> {
    await this.kill9();
    cpSync(this.#directory, this.#backup, { recursive: true });
    this.go();
  }

  /** Everything is again as it was at `backUp`. */
  async restore(): Promise<void> {
    await this.kill9();
    rmSync(this.#directory, { recursive: true });
    cpSync(this.#backup, this.#directory, { recursive: true });
    this.go();
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
