// Makes a profile: the plug-ins that its sets name, each made once and put where the sets say.
import type { Dialect } from '../../../config/dialect.ts';
import type { FilterPlugin, Plugin, Profile, ScorePlugin } from '../framework/framework.ts';
import type { SchedulerGates } from '../framework/gates.ts';
import { runtimeClass } from '../plugins/runtime-class.ts';
import type { PluginSets } from './default-plugins.ts';
import type { PluginArgs } from './plugin-args.ts';
import { type AnyPlugin, type ExtensionPoint, PLUGINS } from './plugin-table.ts';

interface ProfileParts {
  readonly schedulerName: string;
  readonly sets: PluginSets;
  readonly args: PluginArgs;
  readonly dialect: Dialect;
  readonly gates: SchedulerGates;
  readonly asksAllFilters?: boolean | undefined;
  /** Makes the plug-ins of the operator's own. */
  readonly own?: (name: string) => AnyPlugin | undefined;
}

/** What a plug-in must have to run at a point. PreFilter and Filter are one method, and so are PreScore and Score. */
const METHODS: Readonly<Record<ExtensionPoint, readonly (keyof AnyPlugin)[]>> = {
  queueSort: ['before'],
  preFilter: ['prepareFilter'],
  filter: ['prepareFilter'],
  postFilter: ['postFilter'],
  preScore: ['prepareScore'],
  score: ['prepareScore'],
  reserve: ['reserve', 'unreserve'],
  permit: ['permit'],
  preBind: ['preBind'],
  bind: ['bind'],
  postBind: ['postBind'],
};

/** Throws an Error that says what is wrong with the sets. */
export function makeProfile(parts: ProfileParts): Profile {
  const { schedulerName, sets, args, dialect, gates, own, asksAllFilters = false } = parts;
  const made = new Map<string, AnyPlugin>();
  const named = (name: string): AnyPlugin => {
    let plugin = made.get(name);
    if (plugin === undefined) {
      plugin = PLUGINS.get(name)?.create(args, dialect, gates) ?? own?.(name);
      if (plugin === undefined) throw new Error(`there is no plug-in ${name}`);
      made.set(name, plugin);
    }
    return plugin;
  };
  const at = <Wanted extends Plugin>(point: ExtensionPoint): Wanted[] =>
    sets[point].map(({ name }) => {
      const plugin = named(name);
      const hasMethods = METHODS[point].every((method) => typeof plugin[method] === 'function');
      if (!hasMethods || PLUGINS.get(name)?.points.includes(point) === false)
        throw new Error(`the plug-in ${name} cannot run at ${point}`);
      return plugin as unknown as Wanted;
    });
  const [queueSort] = at<Profile['queueSort']>('queueSort');
  if (queueSort === undefined || sets.queueSort.length > 1) throw new Error('one plug-in must run at queueSort');
  if (sets.bind.length === 0) throw new Error('a plug-in must run at bind');
  checkPairs(sets);
  at('preScore');
  return {
    schedulerName,
    queueSort,
    filters: [runtimeClass, ...preFiltersOnly(at('preFilter'), sets), ...at<FilterPlugin>('filter')],
    asksAllFilters,
    scores: at<ScorePlugin>('score').map((plugin, index) => ({ plugin, weight: sets.score[index]!.weight || 1 })),
    postFilters: at('postFilter'),
    reserves: at('reserve'),
    permits: at('permit'),
    preBinds: at('preBind'),
    binds: at('bind'),
    postBinds: at('postBind'),
  };
}

/** A plug-in that has found something out before it is asked cannot be asked alone. */
function checkPairs(sets: PluginSets): void {
  const pairs: readonly (readonly [before: ExtensionPoint, after: ExtensionPoint])[] = [
    ['preFilter', 'filter'],
    ['preScore', 'score'],
  ];
  for (const [before, after] of pairs) {
    for (const { name } of sets[after]) {
      const prepares = PLUGINS.get(name)?.points.includes(before) ?? false;
      if (prepares && !sets[before].some((each) => each.name === name)) {
        throw new Error(`the plug-in ${name} runs at ${after}, so it must run at ${before} too`);
      }
    }
  }
}

/** Plug-ins that look at the pod and are not asked about nodes. */
function preFiltersOnly(plugins: readonly FilterPlugin[], sets: PluginSets): FilterPlugin[] {
  return plugins
    .filter(({ name }) => !sets.filter.some((each) => each.name === name))
    .map((plugin) => ({
      name: plugin.name,
      prepareFilter(pod, cluster) {
        const prepared = plugin.prepareFilter(pod, cluster);
        return prepared !== null && 'code' in prepared ? prepared : null;
      },
    }));
}
