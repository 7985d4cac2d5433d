// A scheduler in a process of its own: it follows the API server by lists and watches, leads or waits to, and binds by requests.
// Joins the parts; what is served about it is bin's work. Ends when it no longer leads: another may by then.
import type { Logger } from 'pino';
import type { Environment } from '../../../runtime/environment.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';
import type { SchedulerConfiguration } from '../configuration/configuration.ts';
import { SchedulerEngine } from '../driver/scheduler-engine.ts';
import type { Profile } from '../framework/framework.ts';
import type { RecordSettings } from '../recording/recorder.ts';
import { SCHEDULER_SETTINGS } from '../settings.ts';
import type { ApiServer } from './api-server.ts';
import { httpPort } from './http-port.ts';
import { Informer } from './informer.ts';
import { LeaderElection } from './leader-election.ts';
import { tellLeader } from './leader-event.ts';
import { type LockPlace, leaderLock } from './leader-locks.ts';
import { podResourcesText } from './pod-resources.ts';
import { collectionPaths } from './resource-paths.ts';

/** A leader whose lease has run out by so much more is stuck. */
const STUCK_MS = 20_000;
/** Pods that have ended occupy nothing. */
const LIVING_PODS = 'status.phase!=Succeeded,status.phase!=Failed';
const PODS = 'core/pods';

export interface RemoteSchedulerParts {
  readonly environment: Pick<Environment, 'clock' | 'timers' | 'random' | 'disk'>;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly configuration: SchedulerConfiguration;
  readonly profiles: readonly Profile[];
  readonly server: ApiServer;
  /** The machine's name. */
  readonly host: string;
  /** Of this process alone. */
  readonly identity: string;
  /** Absent: nothing is recorded. */
  readonly record?: RecordSettings | undefined;
  readonly crash: (error: Error) => void;
}

export class RemoteScheduler {
  readonly #parts: RemoteSchedulerParts;
  readonly #engine: SchedulerEngine;
  readonly #informers: readonly Informer[];
  /** Behind some hundred bindings, which go at the pace of the server, a lease would be renewed too late. */
  readonly #lockServer: ApiServer;
  readonly #election: LeaderElection | undefined;
  #isScheduling = false;
  #isLeading = false;

  constructor(parts: RemoteSchedulerParts) {
    this.#parts = parts;
    const { environment, metrics, log, configuration, profiles, server, host, record, crash } = parts;
    const { dialect } = server.registry;
    this.#lockServer = server.apart();
    this.#engine = new SchedulerEngine({
      environment,
      metrics,
      log,
      dialect,
      configuration,
      profiles,
      port: httpPort(server),
      host,
      settings: SCHEDULER_SETTINGS,
      record,
      crash,
    });
    this.#informers = this.#engine.storageKeys.map((storageKey) => this.#informer(storageKey));
    this.#election = configuration.leaderElection.leaderElect ? this.#makeElection() : undefined;
  }

  /** Empty where all is well, else what is not. */
  health(): string {
    const election = this.#election;
    if (election === undefined) return '';
    const { leaseDurationMs } = this.#parts.configuration.leaderElection;
    return election.sinceRenewalMs > leaseDurationMs + STUCK_MS ? 'failed election to renew leadership' : '';
  }

  /** Metrics of what each living pod requests; empty while another leads. Rejects where the server does not list pods. */
  async podResources(): Promise<string> {
    if (!this.#isLeading) return '';
    const { server } = this.#parts;
    const { registry } = server;
    const path = `${collectionPaths(registry, PODS)[0]}?${new URLSearchParams({ fieldSelector: LIVING_PODS })}`;
    return podResourcesText(server, path, registry.dialect.short);
  }

  /** Resolves when it no longer leads, and binds nothing more from then on; or after `stop`. Never where there is no election. */
  async run(): Promise<void> {
    this.#engine.beginList();
    for (const informer of this.#informers) void informer.run().catch(this.#crash);
    if (this.#election === undefined) {
      this.#lead();
      return new Promise(() => {});
    }
    this.#masterStatus(0);
    if (!(await this.#election.acquire())) return;
    this.#parts.log.info({ identity: this.#parts.identity }, 'this scheduler leads');
    this.#masterStatus(1);
    this.#tellLeader();
    this.#lead();
    await this.#election.keep();
    // What was decided and has not been sent is for another to decide.
    this.#parts.server.close();
    this.#isLeading = false;
    this.#masterStatus(0);
  }

  /** Binds nothing more, waits for what is under way, and then lets others lead. */
  async stop(): Promise<void> {
    for (const informer of this.#informers) informer.stop();
    this.#isLeading = false;
    await this.#engine.stop();
    await this.#election?.stop();
  }

  readonly #crash = (error: unknown): void => {
    this.#parts.crash(error instanceof Error ? error : new Error(String(error)));
  };

  #informer(storageKey: string): Informer {
    const { server, environment, log } = this.#parts;
    return new Informer({
      server,
      environment,
      storageKey,
      paths: collectionPaths(server.registry, storageKey),
      ...(storageKey === PODS ? { fieldSelector: LIVING_PODS } : {}),
      onNews: (news) => this.#engine.tell(news),
      onSynced: () => this.#begin(),
      onBatchEnd: () => this.#isScheduling && this.#engine.wake(),
      onTrouble: (problem) => log.warn({ problem }, 'the API server is asked again'),
    });
  }

  #lockPlace(): LockPlace {
    const { resourceNamespace: namespace, resourceName: name } = this.#parts.configuration.leaderElection;
    const server = this.#lockServer;
    return { server, dialect: server.registry.dialect, namespace, name };
  }

  #tellLeader(): void {
    const { environment, configuration, server, host, identity, log } = this.#parts;
    tellLeader({
      port: httpPort(server),
      environment,
      lock: configuration.leaderElection.resourceLock,
      place: this.#lockPlace(),
      schedulerName: configuration.profiles[0]!.schedulerName,
      host,
      identity,
    }).catch((error: unknown) => log.warn({ err: error }, 'nobody was told who leads'));
  }

  #makeElection(): LeaderElection {
    const { environment, configuration, identity, log } = this.#parts;
    const { leaderElection } = configuration;
    return new LeaderElection({
      environment,
      configuration: leaderElection,
      read: leaderLock(leaderElection.resourceLock, this.#lockPlace()),
      identity,
      onLeader: (leader) => log.info({ leader }, leader === '' ? 'nobody leads' : 'a scheduler leads'),
      onTrouble: (problem) => log.warn({ problem }, 'leadership could not be settled'),
    });
  }

  #masterStatus(value: 0 | 1): void {
    const { metrics, configuration } = this.#parts;
    const help = 'Whether this process leads: 1, or stands by: 0.';
    metrics
      .gauge('leader_election_master_status', help, { name: configuration.leaderElection.resourceName })
      .set(value);
  }

  #lead(): void {
    this.#isLeading = true;
    this.#begin();
  }

  /** Decides from when it leads and knows all that there is. */
  #begin(): void {
    if (this.#isScheduling || !this.#isLeading || !this.#informers.every(({ isSynced }) => isSynced)) return;
    this.#isScheduling = true;
    this.#engine.endList();
  }
}
