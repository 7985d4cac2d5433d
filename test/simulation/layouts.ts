// How the actors of a run lie on threads: as the shipped placements do, and smaller. Slabs, batches and the history are as
// small as chance wants them, so that their edges are met.
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import type { Plan, PlannedActor } from '../../runtime/placement/plan.ts';
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';

/** Threads with the names of their actors. */
export interface Layout {
  readonly threads: readonly { readonly name: string; readonly actors: readonly string[] }[];
  readonly ingresses: readonly string[];
}

const FRONT = ['ingress', 'auth', 'audit', 'hub', 'admission'];
const WIDE_FRONT = ['ingress', 'auth', 'audit', 'hub'];
const WRITE = ['hub', 'admission'];

/** One of the layouts: the shipped ones, some with more fronts. */
export function drawLayout(random: SeededRandom, hasControllers: boolean): Layout {
  const control = ['scheduler', ...(hasControllers ? ['controllers'] : [])];
  const groups = [
    // default
    [[...FRONT, 'store'], control],
    // two or three fronts, and the store apart
    [FRONT, FRONT, ['store'], control],
    [FRONT, FRONT, FRONT, ['store'], control],
    // wide: whoever writes has a hub of its own
    [WIDE_FRONT, WIDE_FRONT, WRITE, ['store'], control],
    [WIDE_FRONT, WIDE_FRONT, WIDE_FRONT, WRITE, ['store'], control],
    // single
    [[...FRONT, 'store', ...control]],
  ][random.below(6)]!;
  const counts = new Map<string, number>();
  for (const actor of groups.flat()) counts.set(actor, (counts.get(actor) ?? 0) + 1);
  const numbers = new Map<string, number>();
  const named = (actor: string): string => {
    const number = numbers.get(actor) ?? 0;
    numbers.set(actor, number + 1);
    return counts.get(actor) === 1 ? actor : `${actor}/${number}`;
  };
  const threads = groups.map((actors, index) => ({ name: `thread/${index}`, actors: actors.map(named) }));
  const ingresses = threads.flatMap(({ actors }) => actors.filter((name) => actorOf(name) === 'ingress'));
  return { threads, ingresses };
}

/** The plan of one life of the server. */
export function planOf({ threads }: Layout, known: readonly ActorFacts[], random: SeededRandom): Plan {
  const drawn: Readonly<Record<string, object>> = {
    store: {
      slabBytes: [2048, 8192, 65_536][random.below(3)]!,
      historyEventsMax: [8, 40, 1000][random.below(3)]!,
      batchTransactionsMax: [2, 16][random.below(2)]!,
      sparseShare: 0.5,
      denseRecords: 2,
    },
    hub: { selfCheckIntervalMs: [300, 2000][random.below(2)]!, fanOutBytesMax: [1, 2000, 1e9][random.below(3)]! },
    scheduler: { presentObjectsMax: [1, 3, 200][random.below(3)]! },
  };
  const planned = (name: string): PlannedActor => {
    const actor = actorOf(name);
    const [, index = '0'] = name.split('/');
    const defaults = known.find((facts) => facts.actor === actor)?.settings ?? {};
    return { actor, name, index: Number(index), settings: { ...defaults, ...drawn[actor] } };
  };
  return {
    name: 'simulated',
    threads: threads.map(({ name, actors }) => ({ name, group: name, actors: actors.map(planned) })),
    warnings: [],
  };
}

function actorOf(name: string): string {
  return name.split('/', 1)[0]!;
}
