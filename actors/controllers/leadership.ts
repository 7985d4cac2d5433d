// What of the controllers waits until this server leads: where several servers share a store, one of them does the work of the
// controller manager and expires events, and one schedules. Where a server has its store for itself, nothing waits.
//
// The controller manager's lease is taken by servers that do some of its work, and by no others: while somebody holds it, the
// original's controller manager does nothing.
import type { Dialect } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import type { Identity } from './controller.ts';
import { apiServerIdentity, componentIdentity } from './identities.ts';
import { LeaderLease } from './leases/leader-lease.ts';
import type { ControllersOptions } from './options.ts';
import type { QueueOf, WorkQueue } from './work-queue.ts';

const CHECK_MS = 1000;

/** What one server does for all, and the lease that says which one. */
interface Duty {
  readonly lease: string;
  readonly does: string;
  readonly identityOf: (dialect: Dialect) => Identity;
}

const programDuty = (program: string, does: string): Duty => ({
  lease: program,
  does,
  identityOf: (dialect) => componentIdentity(dialect.spell(program)),
});

const MANAGING = programDuty('@short-controller-manager', 'runs the controllers');
const SCHEDULING = programDuty('@short-scheduler', 'schedules');
const EXPIRING: Duty = { lease: '@short-apiserver', does: 'deletes expired events', identityOf: apiServerIdentity };

/** What only the leader does. */
interface Led {
  readonly expiry: WorkQueue;
  /** Those of the controller manager. */
  readonly managing: readonly WorkQueue[];
}

function dutyOf({ expiry, managing }: Led): Duty | undefined {
  if (managing.length > 0) return MANAGING;
  return expiry.controller.wants.length > 0 ? EXPIRING : undefined;
}

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
    led: Led,
    queueOf: QueueOf,
  ) {
    this.#context = context;
    const duty = sharesStore ? dutyOf(led) : undefined;
    this.#led = new Set(duty === undefined ? [] : [led.expiry, ...led.managing]);
    if (!sharesStore) return;
    const holder = context.random.uuid();
    const { clock } = context;
    const leaseOf = ({ lease, identityOf }: Duty, onChange: (leads: boolean) => void): WorkQueue<LeaderLease> =>
      queueOf(
        (due) => new LeaderLease(due, { clock, dialect, lease, identity: identityOf(dialect), holder, onChange }),
      );
    if (duty !== undefined) this.#controllers = leaseOf(duty, (leads) => this.#lead(leads, duty));
    if (hasScheduler) this.#scheduler = leaseOf(SCHEDULING, () => this.#tellScheduler());
  }

  /** The queues of the leases, which are always open. */
  get leases(): readonly WorkQueue<LeaderLease>[] {
    return [this.#controllers, this.#scheduler].filter((queue) => queue !== undefined);
  }

  start(): void {
    if (this.leases.length === 0) return;
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

  #lead(leads: boolean, { does }: Duty): void {
    // Whether another does in its stead is not known: the lease may only not have been renewed in time.
    this.#context.log.info({ leads }, `this server ${does}${leads ? '' : ' no more'}`);
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
