// A cluster for schedulers in virtual time: a server that keeps pods and nodes, delays and loses what goes to it and comes from it by
// lot, and writes down what no cluster may see. Schedulers come, crash, and lose their lease. Every run follows from its seed.
import type { Logger } from 'pino';
import type { Binding } from '../../actors/admission/protocol.ts';
import { defaultConfiguration } from '../../actors/scheduler/configuration/defaults.ts';
import { profilesOf } from '../../actors/scheduler/configuration/profiles.ts';
import type { BindingEnd } from '../../actors/scheduler/core/decision.ts';
import type { ClusterPort } from '../../actors/scheduler/driver/cluster-port.ts';
import { type ClusterNews, SchedulerEngine } from '../../actors/scheduler/driver/scheduler-engine.ts';
import { SCHEDULER_SETTINGS } from '../../actors/scheduler/settings.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { Random } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { RecordedMetrics, VirtualTime } from '../unit/scheduler/fake-context.ts';
import { dialect, node, pod, seededRandom } from '../unit/scheduler/objects.ts';

const PODS = 'core/pods';
const NODES = 'core/nodes';
/** A request is under way for so long at most; a lease holds longer. */
const TRANSIT_MAX_MS = 2_000;
const DEADLINE_MS = 10_000;
export const LEASE_MS = 15_000;
const NODE_CPU = 4;
const QUIET = { info() {}, warn() {}, error() {}, debug() {} } as unknown as Logger;

type StoredPod = JsonObject & {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeName?: string; readonly priority?: number };
  readonly cpu: number;
};

export class SchedulingWorld {
  readonly time = new VirtualTime();
  readonly problems: string[] = [];
  /** Requests and answers are lost while it is true. */
  isFaulty = true;
  readonly #random: Random;
  readonly #pods = new Map<string, StoredPod>();
  readonly #nodes = new Map<string, number>();
  readonly #running = new Set<RunningScheduler>();
  /** By uid, every pod that was ever bound. */
  readonly #boundOnce = new Map<string, string>();
  readonly #checksRoom: boolean;
  readonly #takesBound: boolean;
  #made = 0;

  /**
   * `checksRoom`: no two schedulers decide at the same time, so that no node may ever be over its room. `takesBound`: a bug of the
   * server, which binds what is bound.
   */
  constructor(seed: number, checksRoom: boolean, takesBound = false) {
    this.#random = seededRandom(seed * 31 + 7);
    this.#checksRoom = checksRoom;
    this.#takesBound = takesBound;
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.#random.next() * (most - least + 1));
  }

  get unbound(): readonly string[] {
    return [...this.#pods.values()].filter(({ spec }) => spec.nodeName === undefined).map((each) => each.metadata.name);
  }

  get boundCount(): number {
    return this.#boundOnce.size;
  }

  addNode(cpu = NODE_CPU): void {
    const name = `n${this.#made++}`;
    this.#nodes.set(name, cpu);
    this.#tell(NODES, '', name, this.#nodeObject(name));
  }

  /** A node is lost, and its pods with it; what owns them makes others. */
  loseNode(): void {
    const name = this.#oneOf([...this.#nodes.keys()]);
    if (name === undefined) return;
    this.#nodes.delete(name);
    this.#tell(NODES, '', name, undefined);
    for (const each of [...this.#pods.values()]) if (each.spec.nodeName === name) this.#replacePod(each);
  }

  addPod(): void {
    const name = `p${this.#made++}`;
    const cpu = this.whole(1, 2);
    const spec = { priority: this.#oneOf([0, 0, 0, 10])! };
    const object = { ...pod(name, { requests: { cpu: String(cpu) }, spec }), cpu } as unknown as StoredPod;
    this.#store(object);
  }

  removePod(): void {
    const gone = this.#oneOf([...this.#pods.values()]);
    if (gone !== undefined) this.#drop(gone);
  }

  /** A scheduler that knows all there is, and decides from now on. */
  startScheduler(): RunningScheduler {
    const scheduler = new RunningScheduler(this, this.#random, (deliver) => {
      for (const name of this.#nodes.keys()) deliver(newsOf(NODES, '', name, this.#nodeObject(name)));
      for (const each of this.#pods.values()) deliver(newsOf(PODS, 'default', each.metadata.name, each));
    });
    this.#running.add(scheduler);
    return scheduler;
  }

  endScheduler(scheduler: RunningScheduler): void {
    this.#running.delete(scheduler);
  }

  /** What the server does with a binding that has reached it. */
  bind({ name, uid, node: onto }: Binding): BindingEnd {
    const stored = this.#pods.get(name);
    if (stored === undefined || stored.metadata.uid !== uid)
      return { bound: false, reason: 'gone', message: 'there is none' };
    if (stored.spec.nodeName !== undefined && !this.#takesBound)
      return { bound: false, reason: 'taken', message: 'it is bound' };
    const before = this.#boundOnce.get(uid);
    if (before !== undefined) this.problems.push(`${name} is bound to ${onto}, and was to ${before}`);
    this.#boundOnce.set(uid, onto);
    const bound = { ...stored, spec: { ...stored.spec, nodeName: onto } } as StoredPod;
    this.#store(bound);
    this.#checkRoom(onto);
    // The node went while the binding was under way: what collects such pods comes by.
    if (!this.#nodes.has(onto)) this.#replacePod(bound);
    return { bound: true };
  }

  patchStatus(name: string, status: JsonObject): void {
    const stored = this.#pods.get(name);
    if (stored !== undefined)
      this.#store({ ...stored, status: { ...(stored.status as object), ...status } } as StoredPod);
  }

  /** Deletes a victim; what owns it makes another. */
  evict(name: string, uid: string): number {
    const stored = this.#pods.get(name);
    if (stored?.metadata.uid !== uid) return 404;
    this.#replacePod(stored);
    return 200;
  }

  #checkRoom(name: string): void {
    const cpu = this.#nodes.get(name);
    if (cpu === undefined || !this.#checksRoom) return;
    const used = [...this.#pods.values()].filter((each) => each.spec.nodeName === name);
    const sum = used.reduce((total, each) => total + each.cpu, 0);
    if (sum > cpu) this.problems.push(`${name} has ${cpu} cpu, and ${sum} are placed on it`);
  }

  #replacePod(gone: StoredPod): void {
    this.#drop(gone);
    this.addPod();
  }

  #drop({ metadata: { name } }: StoredPod): void {
    this.#pods.delete(name);
    this.#tell(PODS, 'default', name, undefined);
  }

  #store(object: StoredPod): void {
    this.#pods.set(object.metadata.name, object);
    this.#tell(PODS, 'default', object.metadata.name, object);
  }

  #nodeObject(name: string): JsonObject {
    return node(name, { allocatable: { cpu: String(this.#nodes.get(name)), pods: '10000', memory: '9999Gi' } });
  }

  #tell(storageKey: string, namespace: string, name: string, object: JsonObject | undefined): void {
    for (const scheduler of this.#running) scheduler.hear(newsOf(storageKey, namespace, name, object));
  }

  #oneOf<T>(of: readonly T[]): T | undefined {
    return of[Math.floor(this.#random.next() * of.length)];
  }
}

function newsOf(storageKey: string, namespace: string, name: string, object: JsonObject | undefined): ClusterNews {
  return { isGone: object === undefined, storageKey, namespace, name, object: () => object ?? {} };
}

/** One scheduler process: what it hears comes late but in order, and what it sends may be lost. */
export class RunningScheduler {
  readonly #world: SchedulingWorld;
  readonly #random: Random;
  readonly #engine: SchedulerEngine;
  #hearsAtMs = 0;
  #isGone = false;

  constructor(world: SchedulingWorld, random: Random, list: (deliver: (news: ClusterNews) => void) => void) {
    this.#world = world;
    this.#random = random;
    const { time } = world;
    const configuration = defaultConfiguration(dialect);
    const readFile = (): never => {
      throw new Error('there is no disk');
    };
    const disk = { readFile, writeFileAtomic: readFile, exists: readFile, makeDirectory: readFile };
    this.#engine = new SchedulerEngine({
      environment: { clock: time, timers: time, random, disk },
      metrics: new RecordedMetrics(),
      log: QUIET,
      dialect,
      configuration,
      profiles: profilesOf(configuration, dialect),
      port: this.#port(),
      host: 'simulated',
      settings: SCHEDULER_SETTINGS,
      crash: (error) => void world.problems.push(error.message),
    });
    this.#engine.beginList();
    list((news) => this.#engine.tell(news));
    this.#engine.endList();
  }

  hear(news: ClusterNews): void {
    const { time } = this.#world;
    this.#hearsAtMs = Math.max(this.#hearsAtMs, time.monotonicMs() + this.#random.next() * 500);
    time.after(this.#hearsAtMs - time.monotonicMs(), () => {
      if (this.#isGone) return;
      this.#engine.tell(news);
      this.#engine.wake();
    });
  }

  /** Gone at once: what it has sent arrives all the same, and nobody hears the answers. */
  crash(): void {
    this.#isGone = true;
    this.#world.endScheduler(this);
    void this.#engine.stop();
  }

  #port(): ClusterPort {
    const done = (status: number) => async (): Promise<number> => status;
    return {
      bind: (bindings) => this.#sent(() => bindings.map((binding) => this.#world.bind(binding))),
      patchPodStatus: (_, name, patch) =>
        this.#sent(() => {
          this.#world.patchStatus(name, (patch as { readonly status: JsonObject }).status);
          return 200;
        }),
      patchObject: async () => undefined,
      deletePod: (_, name, uid) => this.#sent(() => this.#world.evict(name, uid)),
      createEvent: done(201),
      patchEvent: done(200),
    };
  }

  /** A request with its answer, either of which may be lost. */
  #sent<Answer>(carryOut: () => Answer): Promise<Answer> {
    const { time, isFaulty } = this.#world;
    const lot = isFaulty ? this.#random.next() : 1;
    const transit = () =>
      new Promise<void>((resolve) => void time.after(this.#random.next() * TRANSIT_MAX_MS, resolve));
    const lost = async (): Promise<never> => {
      await new Promise<void>((resolve) => void time.after(DEADLINE_MS, resolve));
      throw new OrchError('DeadlineExceeded', 'no answer');
    };
    return (async () => {
      if (lot < 0.05) return lost();
      if (lot < 0.1) throw new OrchError('ActorDown', 'nobody there');
      await transit();
      const answer = carryOut();
      if (lot < 0.2) return lost();
      await transit();
      return answer;
    })();
  }
}
