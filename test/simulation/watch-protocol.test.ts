// Holds the tables of docs/WATCHES.md against what hub and ingress do under seeded schedules: every step has a row, every
// row happens, and whatever happened, each client has seen every change once and in order.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { Watchers } from '../../actors/hub/watches/watchers.ts';
import { Watches } from '../../actors/ingress/watch/watches.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { HubWorld, type WatchClient } from '../unit/hub/hub-world.ts';

const SEEDS = 200;
/** Longer than the hub rests after a fan-out. */
const REST_MS = 50;
/** In these happens what happens once in hundreds: other ones show it where a change of the code has moved it. */
const RARE_SEEDS = [390, 866, 1418];
/** Beyond them, those of a thread on which turns take time. */
const BUSY_SEEDS = [2001, 2050] as const;
const STEPS = 60;
const CLIENTS_MAX = 10;

/** `state event next`, of the table whose rows are told of by that heading. */
function rowsUnder(heading: string): readonly string[] {
  const [, section = ''] = readFileSync('docs/WATCHES.md', 'utf8').split(`## ${heading}\n`);
  const lines = section.split('\n## ', 1)[0]!.split('\n');
  return lines
    .map((line) => /^\| `(\w+)` +\| `(\w+)` +\| `(\w+)` +\|/.exec(line))
    .filter((row) => row !== null)
    .map(([, state, event, next]) => `${state} ${event} ${next}`);
}

/** Everything that was seen to happen to one kind of record. */
class Steps {
  readonly seen = new Set<string>();
  readonly #stateOf: (id: number) => string;

  constructor(stateOf: (id: number) => string) {
    this.#stateOf = stateOf;
  }

  /** Notes what a call does to a record. Without `even`, only that its state changed. */
  during<T>(event: string, ids: readonly number[], even: boolean, call: () => T): T {
    const before = ids.map(this.#stateOf);
    const result = call();
    ids.forEach((id, index) => {
      const after = this.#stateOf(id);
      const state = before[index]!;
      if (state !== after || (even && state !== 'gone')) this.seen.add(`${state} ${event} ${after}`);
    });
    return result;
  }
}

type Method = (...given: never[]) => unknown;

/** Puts `around` around a method of a class, until the returned function is called. */
function wrap<C extends object>(
  prototype: C,
  name: keyof C & string,
  around: (self: C, given: never[], call: () => unknown) => unknown,
) {
  const original = prototype[name] as Method;
  Object.defineProperty(prototype, name, {
    configurable: true,
    writable: true,
    value(this: C, ...given: never[]) {
      return around(this, given, () => original.apply(this, given));
    },
  });
  return () => Object.defineProperty(prototype, name, { configurable: true, writable: true, value: original });
}

interface Observed {
  readonly hub: ReadonlySet<string>;
  readonly ingress: ReadonlySet<string>;
}

/** What a client does, noted as an event at the ingress. */
type Note = (event: 'drained' | 'closed', id: number, act: () => void) => void;

/** Both ends of every watch, while `run` lasts. */
async function observed(run: (note: Note) => Promise<void>): Promise<Observed> {
  const ends: { hub?: Watchers; ingress?: Watches } = {};
  const all = Array.from({ length: CLIENTS_MAX }, (_, index) => index + 1);
  const hub = new Steps((id) => ends.hub?.stateOf(id) ?? 'gone');
  const ingress = new Steps((id) => ends.ingress?.stateOf(id) ?? 'gone');
  const atHub = (name: keyof Watchers & string, even: boolean, idsOf: (given: never) => readonly number[]) =>
    wrap(Watchers.prototype, name, (self, [given], call) => {
      ends.hub = self;
      return hub.during(name, idsOf(given!), even, call);
    });
  const undo = [
    atHub('open', true, ({ watcher }: { readonly watcher: number }) => [watcher]),
    atHub('ready', true, (id: number) => [id]),
    atHub('park', false, (id: number) => [id]),
    atHub('close', false, (id: number) => [id]),
    atHub('end', false, ({ id }: { readonly id: number }) => [id]),
    atHub('flush', false, () => all),
    atHub('suspend', false, () => all),
    atHub('resume', false, () => all),
    wrap(Watches.prototype, 'serve', (self, _given, call) => {
      ends.ingress = self;
      return call();
    }),
    wrap(Watches.prototype, 'frames', (_self, [frames], call) => {
      const { watchers, catchUp } = frames as unknown as {
        readonly watchers: readonly number[];
        readonly catchUp: boolean;
      };
      return ingress.during(catchUp ? 'catchUp' : 'live', watchers, true, call);
    }),
    wrap(Watches.prototype, 'end', (_self, [ended], call) =>
      ingress.during('ended', (ended as unknown as { readonly watchers: readonly number[] }).watchers, false, call),
    ),
  ];
  try {
    await run((event, id, act) => ingress.during(event, [id], false, act));
  } finally {
    for (const put of undo) put();
  }
  return { hub: hub.seen, ingress: ingress.seen };
}

interface Client {
  readonly id: number;
  readonly watch: WatchClient;
  /** The revision it goes on after; undefined: it begins with the present state, whichever that is. */
  readonly after: number | undefined;
}

type Act = 'open' | 'commit' | 'settle' | 'drain' | 'close' | 'lose' | 'wait';

/** How often each happens, in runs of one seed; each run is of another temper, so that no happening hides another. */
function temperOf(random: SeededRandom): readonly (readonly [Act, number])[] {
  const weight = (...weights: readonly number[]): number => weights[random.below(weights.length)]!;
  return [
    ['open', 6],
    ['commit', weight(4, 14)],
    ['settle', weight(2, 8)],
    ['drain', weight(1, 7)],
    ['close', weight(0, 1, 4)],
    ['lose', weight(0, 1, 6)],
    ['wait', weight(0, 1, 6)],
  ];
}

/** One server with its clients, and what chance does to them. */
class Schedule {
  readonly problems: string[] = [];
  readonly #random: SeededRandom;
  readonly #world: HubWorld;
  readonly #note: Note;
  readonly #clients: Client[] = [];
  /** Lets the hub have the store that was lost. */
  #comeBack = (): void => {};
  readonly #temper: readonly (readonly [Act, number])[];

  constructor(world: HubWorld, seed: number, note: Note) {
    this.#world = world;
    this.#note = note;
    this.#random = new SeededRandom(seed ^ 0x3a7c);
    this.#temper = temperOf(this.#random);
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) await this.#step();
    this.#comeBack();
    for (const { watch } of this.#clients) watch.response.isFull = () => false;
    for (let round = 0; round < 3; round++) {
      await this.#world.during(this.#world.simulation.time.advance(REST_MS));
      for (const client of this.#clients) this.#drain(client);
    }
    await this.#world.settle();
    for (const client of this.#clients) this.#check(client);
    await this.#checkEnds();
  }

  /** Both ends know of the same watches. */
  async #checkEnds(): Promise<void> {
    const { hubRef, ingress } = this.#world;
    const { watchers } = await this.#world.during(hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }));
    const { count } = ingress.watches;
    if (watchers !== count) this.problems.push(`the hub has ${watchers} watches, their ingress ${count}`);
  }

  async #step(): Promise<void> {
    const client = this.#clients[this.#random.below(CLIENTS_MAX)];
    switch (this.#draw()) {
      case 'open':
        return this.#open();
      case 'commit':
        return this.#commit();
      case 'settle':
        return this.#world.settle();
      case 'drain':
        return client && this.#drain(client);
      case 'close':
        return client && this.#note('closed', client.id, () => client.watch.response.disconnect());
      case 'lose':
        return this.#lose();
      case 'wait':
        return this.#world.during(this.#world.simulation.time.advance(this.#random.below(3000)));
    }
  }

  #draw(): Act {
    const urn = this.#temper.flatMap(([act, weight]) => Array.from({ length: weight }, () => act));
    return urn[this.#random.below(urn.length)]!;
  }

  /** The store is lost, and comes back at once or when it is lost the next time. */
  #lose(): void {
    this.#comeBack();
    if (this.#random.below(2) === 0) this.#comeBack = this.#world.delayPresents();
    this.#world.loseStore();
  }

  #open(): void {
    if (this.#clients.length === CLIENTS_MAX) return;
    const random = this.#random;
    // A watch after 0 would begin with the present state.
    const latest = Math.max(1, this.#world.commits.length);
    const after = [undefined, latest, Math.max(1, latest - 4), latest + 1 + random.below(3)][random.below(4)];
    const timeout = random.below(3) === 0 ? `&timeoutSeconds=${1 + random.below(3)}` : '';
    const from = after === undefined ? '' : `&resourceVersion=${after}`;
    const watch = this.#world.watch(`allowWatchBookmarks=true${timeout}${from}`);
    const client = { id: this.#clients.length + 1, watch, after };
    watch.response.isFull = () => {
      const isFull = random.below(2) === 0;
      // A socket that drains at once, while chunks from before are on their way.
      if (isFull && random.below(2) === 0) queueMicrotask(() => this.#drain(client));
      return isFull;
    };
    this.#clients.push(client);
  }

  /** Some at once, which the store commits as one batch. */
  #commit(): void {
    for (let count = 1 + this.#random.below(3); count > 0; count--) this.#commitOne();
  }

  #commitOne(): void {
    const name = `o${this.#random.below(20)}`;
    const text = 'x'.repeat(this.#random.below(3) === 0 ? 40_000 : 40);
    void this.#world.commitSoon([{ namespace: 'a', name, labels: {}, text }]);
  }

  #drain({ id, watch }: Client): void {
    if (watch.response.full) this.#note('drained', id, () => watch.response.drain());
  }

  /**
   * A client has seen the changes after its revision, once and in order, and while it is there every one; no bookmark promised
   * what had yet to come.
   */
  #check({ watch, after }: Client): void {
    const { response } = watch;
    if (response.writesWhileFull > 0) this.problems.push('a full socket was written to');
    if (response.status !== 200 || after === undefined) return;
    const expected = this.#world.expectedAfter(after);
    const seen: string[] = [];
    for (const line of watch.seen) {
      if (line.startsWith('ERROR')) continue;
      if (!line.startsWith('BOOKMARK')) seen.push(line);
      else if (revisionIn(line) < after) this.problems.push(`${line} came after ${after}`);
      else if (revisionIn(expected[seen.length]) <= revisionIn(line)) {
        this.problems.push(`${line} came before ${expected[seen.length]}`);
      }
    }
    const due = response.ended || response.aborted ? expected.slice(0, seen.length) : expected;
    if (seen.join() !== due.join()) this.problems.push(`seen ${seen.join()}, expected ${due.join()}`);
  }
}

function seedsOf(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Of an event as clients see it; of none: later than all. */
function revisionIn(line: string | undefined): number {
  return line === undefined ? Number.POSITIVE_INFINITY : Number(line.split(' ').at(-1));
}

test('every step of a watch is in the tables, and every row of them happens', async (t) => {
  const hub = new Set<string>();
  const ingress = new Set<string>();
  for (const seed of [...seedsOf(1, SEEDS), ...RARE_SEEDS, ...seedsOf(...BUSY_SEEDS)]) {
    const steps = await observed(async (note) => {
      const world = await HubWorld.start({
        seed,
        randomDelivery: seed % 3 !== 0,
        isBusy: seed >= BUSY_SEEDS[0],
        historyEventsMax: seed % 2 === 0 ? 12 : 200,
        ...(seed % 5 === 0 && { fanOutBytesMax: 50_000 }),
      });
      const schedule = new Schedule(world, seed, note);
      await schedule.run();
      t.deepEqual(schedule.problems, [], `seed ${seed}`);
      await world.stop();
    });
    for (const step of steps.hub) hub.add(step);
    for (const step of steps.ingress) ingress.add(step);
  }
  for (const [heading, steps] of [
    ['The watcher, in the hub', hub],
    ['The open watch, in the ingress', ingress],
  ] as const) {
    const rows = rowsUnder(heading);
    const unheard = [...steps].filter((step) => !rows.includes(step));
    const idle = rows.filter((row) => !steps.has(row));
    t.deepEqual({ unheard, idle }, { unheard: [], idle: [] }, heading);
  }
});
