// A store, a hub and clients that write, list, get and watch at once, in an order that a seed decides. Every answer is
// compared with a replay of all commits. A failure names its seed: the same seed gives the same run.
import test from 'ava';
import type { Freshness, HubProtocol, ListAnswer } from '../../actors/hub/protocol.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { HubWorld, objectsAt, type Version, type WatchClient } from '../unit/hub/hub-world.ts';

const SEEDS = 50;
const CLIENTS = 5;
const STEPS = 40;
const NAMESPACES = ['a', 'a-b'];

interface ListSeen {
  readonly what: string;
  readonly revision: number;
  readonly namespace: string;
  readonly seen: readonly string[];
}

interface WatchSeen {
  readonly watch: WatchClient;
  readonly namespace: string;
  readonly labelSelector: string;
  /** The revision asked for; undefined: from the present state. */
  readonly after: number | undefined;
  /** The state that a watch without a revision begins with is at least this new. */
  readonly notOlderThan: number;
}

/** Everything that the clients of one run saw, and whatever was wrong with it at once. */
class Run {
  readonly world: HubWorld;
  readonly random: SeededRandom;
  readonly lists: ListSeen[] = [];
  readonly watches: WatchSeen[] = [];
  readonly wrong: string[] = [];
  /** The highest revision that any client was told its write has. */
  acknowledged = 0;
  /** The window is short and the store gets lost: reads may be refused, watches may end with an ERROR event. */
  readonly rough: boolean;

  constructor(world: HubWorld, seed: number, rough = false) {
    this.world = world;
    this.rough = rough;
    this.random = new SeededRandom(seed ^ 0xc11e47);
  }

  refused(what: string, refusal: string): void {
    const expected = this.rough && (refusal === 'expired' || refusal === 'notReady');
    this.check(expected, `${what} was refused: ${refusal}`);
  }

  check(holds: boolean, what: string): void {
    if (!holds) this.wrong.push(what);
  }
}

const selects =
  ({ namespace, labelSelector }: { namespace: string; labelSelector: string }) =>
  (version: Version): boolean =>
    (namespace === '' || version.namespace === namespace) && (labelSelector === '' || version.labels.tier === 'front');

/** What one client has seen so far. */
interface Known {
  /** The highest revision in any answer. */
  revision: number;
  /** The highest that a read answered with; `any` may be older than the client's own write, but not than its reads. */
  read: number;
}

function saw(known: Known, read: number): void {
  known.read = Math.max(known.read, read);
  known.revision = Math.max(known.revision, read);
}

/** One client: a sequence of requests, each awaited before the next. */
async function client(run: Run, number: number): Promise<void> {
  const { random } = run;
  const known: Known = { revision: 0, read: 0 };
  for (let step = 0; step < STEPS; step++) {
    const what = `client ${number}, step ${step}`;
    const key = `${NAMESPACES[random.below(2)]}/o${random.below(6)}`;
    switch (random.below(9)) {
      case 0:
      case 1:
      case 2: {
        const revision = await write(run, key, `${number}/${step}`);
        run.check(revision > known.revision, `${what}: a write got revision ${revision} after ${known.revision}`);
        known.revision = Math.max(known.revision, revision);
        run.acknowledged = Math.max(run.acknowledged, revision);
        break;
      }
      case 3:
        await get(run, key, known, what);
        break;
      case 4:
      case 5:
        await list(run, known, what);
        break;
      case 6:
        await listInChunks(run, what);
        break;
      case 7:
        openWatch(run, known.revision);
        break;
      default: {
        const { watch } = run.watches[random.below(run.watches.length)] ?? {};
        if (watch === undefined) break;
        if (run.rough && random.below(8) === 0) run.world.loseStore();
        else if (random.below(6) === 0) watch.response.disconnect();
        else watch.response.drain();
      }
    }
  }
}

/** Writes or removes, one object or two under one revision. */
async function write({ world, random }: Run, key: string, text: string): Promise<number> {
  const [namespace = '', name = ''] = key.split('/');
  const version: Version = { namespace, name, text, labels: random.below(2) === 0 ? { tier: 'front' } : {} };
  if (random.below(3) > 0)
    return world.commitSoon(random.below(4) > 0 ? [version] : [version, { ...version, name: 'z' }]);
  // A removal of what may be gone already is refused: then it is written instead.
  const removed = await world.removeSoon(key);
  return removed ?? world.commitSoon([version]);
}

async function get(run: Run, key: string, known: Known, what: string): Promise<void> {
  const { world, acknowledged } = run;
  const [namespace = '', name = ''] = key.split('/');
  const freshness: Freshness = { kind: 'mostRecent' };
  const answer = await world.hubRef.ask(
    { type: 'get', storageKey: 'core/configmaps', namespace, name, freshness },
    { deadlineMs: 60_000 },
  );
  if (answer.refused !== undefined) {
    run.refused(`${what}: a get`, answer.refused);
    return;
  }
  run.check(answer.revision >= acknowledged, `${what}: a get at ${answer.revision} after a write at ${acknowledged}`);
  run.check(answer.revision >= known.revision, `${what}: went back from ${known.revision} to ${answer.revision}`);
  const seen = answer.place === null ? [] : [`ADDED ${key} ${answer.place.revision}`];
  run.lists.push({ what, revision: answer.revision, namespace: `=${key}`, seen });
  saw(known, answer.revision);
}

async function list(run: Run, known: Known, what: string): Promise<void> {
  const { world, random, acknowledged } = run;
  const exactRevision = Math.max(1, known.revision - random.below(10));
  const freshness = (
    [
      { kind: 'mostRecent' },
      { kind: 'any' },
      { kind: 'notOlderThan', revision: known.revision },
      { kind: 'exact', revision: exactRevision },
    ] as const
  )[random.below(4)]!;
  const namespace = ['', ...NAMESPACES][random.below(3)]!;
  const answer = await world.list({ namespace, freshness });
  if (answer.refused !== undefined) {
    // A revision that nobody has written yet is waited for in vain.
    if (freshness.kind !== 'exact' || known.revision > 0) run.refused(`${what}: ${freshness.kind}`, answer.refused);
    return;
  }
  note(run, answer, namespace, what);
  const { revision } = answer;
  const { kind } = freshness;
  if (kind === 'mostRecent')
    run.check(revision >= acknowledged, `${what}: a list at ${revision} misses ${acknowledged}`);
  if (kind === 'exact') {
    run.check(revision === exactRevision, `${what}: exactly ${exactRevision} became ${revision}`);
    return;
  }
  const least = kind === 'any' ? known.read : known.revision;
  run.check(revision >= least, `${what}: ${kind} went back from ${least} to ${revision}`);
  saw(known, revision);
}

function note(run: Run, answer: ListAnswer, namespace: string, what: string): void {
  run.lists.push({ what, revision: answer.revision, namespace, seen: run.world.seenIn(answer) });
}

/** A list in chunks, while others write: one state, at the first chunk's revision. */
async function listInChunks(run: Run, what: string): Promise<void> {
  const { world, random } = run;
  const seen: string[] = [];
  let first: ListAnswer | undefined;
  let continueToken = '';
  do {
    const answer: HubProtocol['asks']['list']['reply'] = await world.list({
      limit: 1 + random.below(4),
      continueToken,
    });
    if (answer.refused !== undefined) {
      run.refused(`${what}: a chunk`, answer.refused);
      return;
    }
    first ??= answer;
    run.check(answer.revision === first.revision, `${what}: chunks of ${first.revision} and ${answer.revision}`);
    if (random.below(2) === 0) await holdOn(run, answer, what);
    seen.push(...world.seenIn(answer));
    continueToken = answer.continueToken;
  } while (continueToken !== '');
  run.lists.push({ what, revision: first.revision, namespace: '', seen });
}

/** A client that reads slowly: what it was promised stays as it was until it lets go. */
async function holdOn({ world, ...run }: Run, answer: ListAnswer, what: string): Promise<void> {
  const slabs = world.slabs.ofStore(answer.incarnation);
  const before = JSON.stringify(objectsAt(answer, slabs));
  await new Promise<void>((resolve) => world.simulation.time.after(5 + run.random.below(50), resolve));
  const after = JSON.stringify(objectsAt(answer, slabs));
  if (before !== after) run.wrong.push(`${what}: records were overwritten under a list`);
}

function openWatch(run: Run, known: number): void {
  const { world, random } = run;
  const namespace = ['', ...NAMESPACES][random.below(3)]!;
  const labelSelector = ['', 'tier=front'][random.below(2)]!;
  const after = random.below(2) === 0 || known === 0 ? undefined : known;
  const query = `labelSelector=${encodeURIComponent(labelSelector)}${after === undefined ? '' : `&resourceVersion=${after}`}`;
  const watch = world.watch(query, namespace);
  watch.response.isFull = () => random.below(4) === 0;
  run.watches.push({ watch, namespace, labelSelector, after, notOlderThan: run.acknowledged });
}

/** Compares everything that was seen with a replay of all commits. */
function replay({ world, lists, watches, wrong, rough }: Run): void {
  for (const { what, revision, namespace, seen } of lists) {
    const expected = namespace.startsWith('=')
      ? world.stateAt(revision).filter((line) => line.startsWith(`ADDED ${namespace.slice(1)} `))
      : world.stateAt(revision, selects({ namespace, labelSelector: '' }));
    if (seen.join() !== expected.join())
      wrong.push(`${what}: at ${revision} saw [${seen.join()}], there was [${expected.join()}]`);
  }
  for (const [index, seen] of watches.entries()) {
    const problem = watchProblem(world, seen, rough);
    if (problem !== undefined) wrong.push(`watch ${index}: ${problem}`);
  }
}

function watchProblem(world: HubWorld, { watch, after, notOlderThan, ...selection }: WatchSeen, rough: boolean) {
  const { aborted, writesWhileFull } = watch.response;
  if (writesWhileFull > 0) return 'a full socket was written to';
  const code = watch.refusal?.code;
  if (rough && (code === 410 || code === 503)) return undefined;
  if (watch.failure !== undefined || code !== undefined) return `failed: ${code ?? watch.failure}`;
  const cut = rough && watch.events.at(-1)?.type === 'ERROR';
  const seen = cut ? watch.seen.slice(0, -1) : watch.seen;
  const start = after ?? initialRevision(world, seen, selection);
  if (after === undefined && start < notOlderThan) return `began at ${start}, ${notOlderThan} had been acknowledged`;
  const state = after === undefined ? world.stateAt(start, selects(selection)) : [];
  const expected = [...state, ...world.expectedAfter(start, selects(selection))];
  const complete = aborted || cut ? expected.slice(0, seen.length) : expected;
  if (seen.join() === complete.join()) return undefined;
  return `after ${after} (${start}) saw [${seen.join()}], expected [${complete.join()}]`;
}

/**
 * The revision whose state a watch began with, found by trying: it is one at which the ADDED events it saw first are the
 * whole state, and what follows are the changes after it.
 */
function initialRevision(world: HubWorld, seen: readonly string[], selection: Parameters<typeof selects>[0]): number {
  const matches = selects(selection);
  for (const { revision } of [{ revision: 0 }, ...world.commits].toReversed()) {
    const expected = [...world.stateAt(revision, matches), ...world.expectedAfter(revision, matches)];
    if (seen.join() === expected.slice(0, seen.length).join()) return revision;
  }
  return -1;
}

async function simulate(seed: number, rough: boolean): Promise<readonly string[]> {
  const window = rough ? { historyEventsMax: 30, historyBytesMax: 8000 } : {};
  const world = await HubWorld.start({ seed, randomDelivery: true, distantHub: true, slabBytes: 2048, ...window });
  const run = new Run(world, seed, rough);
  await world.during(Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(run, number))));
  for (const { watch } of run.watches) watch.response.isFull = () => false;
  await world.settle();
  for (const { watch } of run.watches) watch.response.drain();
  await world.simulation.time.advance(1000);
  replay(run);
  run.check(run.lists.length > 0 && run.watches.length > 0 && world.commits.length > 20, 'too little happened');
  for (const error of world.run.crashes.values()) run.wrong.push(`crashed: ${error.message}`);
  await world.stop();
  return run.wrong;
}

for (const rough of [false, true]) {
  const how = rough ? ' with a short window, tiny slabs and a store that gets lost' : '';
  test(`reads and watches of ${SEEDS} simulated runs${how} are what a replay of all commits says`, async (t) => {
    for (let seed = 1; seed <= SEEDS; seed++) t.deepEqual(await simulate(seed, rough), [], `seed ${seed}`);
  });
}

test('the same seed gives the same run', async (t) => {
  const once = async (): Promise<unknown> => {
    const world = await HubWorld.start({ seed: 7, randomDelivery: true });
    const run = new Run(world, 7);
    await world.during(Promise.all([client(run, 0), client(run, 1), client(run, 2)]));
    const seen = { commits: world.commits, lists: run.lists, watches: run.watches.map(({ watch }) => watch.seen) };
    await world.stop();
    return seen;
  };
  t.deepEqual(await once(), await once());
});
