// A profile whose plug-ins are timed one by one: used for some cycles, since it reads the clock twice a call. Says and does what
// the profile itself does.
import type {
  BindPlugin,
  FilterPlugin,
  NodeFilter,
  PermitPlugin,
  PostBindPlugin,
  PostFilterPlugin,
  PreBindPlugin,
  Profile,
  ReservePlugin,
  ScorePlugin,
} from '../framework/framework.ts';
import { type CycleTiming, outcomeOf, type TimedOutcome, type TimedPoint } from './cycle-timing.ts';

/** Of a plug-in that looks at each node, so many nodes of a cycle are timed: thousands would cost more than they tell. */
const TIMED_NODES = 4;

/** Profiles by the name of their scheduler. */
export class TimedProfiles {
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #timed: ReadonlyMap<string, Profile>;
  readonly #timing: CycleTiming;

  constructor(profiles: readonly Profile[], timing: CycleTiming) {
    this.#timing = timing;
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]));
    this.#timed = new Map(profiles.map((profile) => [profile.schedulerName, timedProfile(profile, timing)]));
  }

  has(schedulerName: string): boolean {
    return this.#profiles.has(schedulerName);
  }

  get(schedulerName: string): Profile | undefined {
    return this.#profiles.get(schedulerName);
  }

  /** The profile that a cycle which begins now goes by: in some cycles the calls of its plug-ins are timed. */
  ofCycle(schedulerName: string): Profile | undefined {
    return (this.#timing.isSampled() ? this.#timed : this.#profiles).get(schedulerName);
  }
}

/** The profile with its plug-ins told to `timing`, each call by itself. */
function timedProfile(profile: Profile, timing: CycleTiming): Profile {
  const timed = new TimedPlugins(timing);
  return {
    ...profile,
    filters: profile.filters.map((plugin) => timed.filter(plugin)),
    scores: profile.scores.map(({ plugin, weight }) => ({ plugin: timed.score(plugin), weight })),
    postFilters: profile.postFilters.map((plugin) => timed.postFilter(plugin)),
    reserves: profile.reserves.map((plugin) => timed.reserve(plugin)),
    permits: profile.permits.map((plugin) => timed.permit(plugin)),
    preBinds: profile.preBinds.map((plugin) => timed.preBind(plugin)),
    binds: profile.binds.map((plugin) => timed.bind(plugin)),
    postBinds: profile.postBinds.map((plugin) => timed.postBind(plugin)),
  };
}

const succeeded = (): TimedOutcome => 'Success';

class TimedPlugins {
  readonly #timing: CycleTiming;

  constructor(timing: CycleTiming) {
    this.#timing = timing;
  }

  filter(plugin: FilterPlugin): FilterPlugin {
    const { name } = plugin;
    return {
      name,
      prepareFilter: (pod, cluster) => {
        const prepared = this.#call(name, 'PreFilter', () => plugin.prepareFilter(pod, cluster), outcomeOfPrepared);
        if (prepared === null || 'code' in prepared) return prepared;
        if (typeof prepared === 'function') return this.#check(name, prepared);
        return { ...prepared, check: this.#check(name, prepared.check) };
      },
    };
  }

  score(plugin: ScorePlugin): ScorePlugin {
    const { name } = plugin;
    return {
      name,
      prepareScore: (pod, cluster, feasible) => {
        const scorer = this.#call(name, 'PreScore', () => plugin.prepareScore(pod, cluster, feasible), succeeded);
        if (scorer === null) return null;
        let left = TIMED_NODES;
        const score: typeof scorer.score = (node) =>
          left-- > 0 ? this.#call(name, 'Score', () => scorer.score(node), succeeded) : scorer.score(node);
        const { normalize, ofNodeAlone } = scorer;
        return { score, normalize, ...(ofNodeAlone === undefined ? {} : { ofNodeAlone }) };
      },
    };
  }

  postFilter(plugin: PostFilterPlugin): PostFilterPlugin {
    const { name } = plugin;
    return {
      name,
      postFilter: (cycle) => this.#call(name, 'PostFilter', () => plugin.postFilter(cycle), outcomeOfRoom),
    };
  }

  reserve(plugin: ReservePlugin): ReservePlugin {
    const { name } = plugin;
    return {
      name,
      reserve: (pod, node, cluster) => this.#call(name, 'Reserve', () => plugin.reserve(pod, node, cluster), outcomeOf),
      unreserve: (pod, node) => plugin.unreserve(pod, node),
      settled: (pod) => plugin.settled?.(pod),
    };
  }

  permit(plugin: PermitPlugin): PermitPlugin {
    const { name } = plugin;
    return {
      name,
      permit: (pod, node) =>
        this.#call(
          name,
          'Permit',
          () => plugin.permit(pod, node),
          (permit) => (permit === null || 'code' in permit ? outcomeOf(permit) : 'Wait'),
        ),
    };
  }

  preBind(plugin: PreBindPlugin): PreBindPlugin {
    const { name } = plugin;
    return { name, preBind: (pod, node) => this.#call(name, 'PreBind', () => plugin.preBind(pod, node), succeeded) };
  }

  bind(plugin: BindPlugin): BindPlugin {
    const { name } = plugin;
    const outcome = (bound: ReturnType<BindPlugin['bind']>): TimedOutcome => (bound === 'skip' ? 'Skip' : 'Success');
    return { name, bind: (pod, node) => this.#call(name, 'Bind', () => plugin.bind(pod, node), outcome) };
  }

  postBind(plugin: PostBindPlugin): PostBindPlugin {
    const { name } = plugin;
    return { name, postBind: (pod, node) => this.#call(name, 'PostBind', () => plugin.postBind(pod, node), succeeded) };
  }

  #check(name: string, check: NodeFilter): NodeFilter {
    let left = TIMED_NODES;
    return (node) => (left-- > 0 ? this.#call(name, 'Filter', () => check(node), outcomeOf) : check(node));
  }

  #call<T>(plugin: string, point: TimedPoint, call: () => T, outcome: (answer: T) => TimedOutcome): T {
    const beganMs = this.#timing.nowMs();
    const answer = call();
    this.#timing.plugin(plugin, point, outcome(answer), beganMs);
    return answer;
  }
}

function outcomeOfPrepared(prepared: ReturnType<FilterPlugin['prepareFilter']>): TimedOutcome {
  return prepared !== null && 'code' in prepared ? outcomeOf(prepared) : 'Success';
}

function outcomeOfRoom(room: ReturnType<PostFilterPlugin['postFilter']>): TimedOutcome {
  if (room === 'unfinished') return 'Wait';
  return room === null || ('candidates' in room && room.candidates.length === 0) ? 'Unschedulable' : 'Success';
}
