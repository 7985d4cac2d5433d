// What of the controllers waits until this server leads: where several servers share a store, one of them does the work of the
// controller manager and expires events, and one schedules. Where a server has its store for itself, nothing waits.
import type { Dialect } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { LeaderLease } from './leader-lease.ts';
import type { ControllersOptions } from './options.ts';
import type { QueueOf, WorkQueue } from './work-queue.ts';

const CHECK_MS = 1000;

export class Leadership {
  readonly #context: ActorContext;
  readonly #led: ReadonlySet<WorkQueue>;
  readonly #controllers: WorkQueue<LeaderLease> | undefined;
  readonly #scheduler: WorkQueue<LeaderLease> | undefined;
  /** The controllers know the whole state. */
  #isWhole = false;

  /** `led`: the queues of which only the leader's are open. */
  constructor(
    context: ActorContext,
    dialect: Dialect,
    { sharesStore, hasScheduler }: Pick<ControllersOptions, 'sharesStore' | 'hasScheduler'>,
    led: readonly WorkQueue[],
    queueOf: QueueOf,
  ) {
    this.#context = context;
    this.#led = new Set(sharesStore ? led : []);
    const holder = sharesStore ? context.random.uuid() : '';
    const leaseOf = (lease: string, onChange: (leads: boolean) => void): WorkQueue<LeaderLease> =>
      queueOf((due) => new LeaderLease(due, { clock: context.clock, dialect, lease, holder, onChange }));
    if (!sharesStore) return;
    this.#controllers = leaseOf('@short-controller-manager', (leads) => this.#lead(leads));
    if (hasScheduler) this.#scheduler = leaseOf('@short-scheduler', () => this.#tellScheduler());
  }

  /** The queues of the leases, which are always open. */
  get leases(): readonly WorkQueue<LeaderLease>[] {
    return [this.#controllers, this.#scheduler].filter((queue) => queue !== undefined);
  }

  start(): void {
    if (this.#controllers === undefined) return;
    this.#context.timers.every(CHECK_MS, () => {
      this.#controllers?.controller.check();
      this.#tellScheduler();
    });
  }

  /** True for a queue that rests for now. */
  holdsBack(queue: WorkQueue): boolean {
    return this.#led.has(queue) && this.#controllers?.controller.check() !== true;
  }

  reset(): void {
    this.#isWhole = false;
  }

  synced(): void {
    this.#isWhole = true;
  }

  #lead(leads: boolean): void {
    this.#context.log.info(
      { leads },
      leads ? 'this server runs the controllers' : 'another server runs the controllers',
    );
    for (const queue of this.#led) {
      if (!leads) queue.rest();
      else if (this.#isWhole) queue.begin();
    }
  }

  /** Said again and again: a scheduler that began anew knows nothing of it. */
  #tellScheduler(): void {
    if (this.#scheduler === undefined) return;
    const leads = this.#scheduler.controller.check();
    this.#context.ref('scheduler').tell({ type: 'lead', leads });
  }
}
