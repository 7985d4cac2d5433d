// The profiles that a configuration describes, ready to run.
import type { Dialect } from '../../../config/dialect.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Profile } from '../framework/framework.ts';
import type { PluginArgs } from '../profiles/plugin-args.ts';
import { makeProfile } from '../profiles/profile.ts';
import type { SchedulerConfiguration } from './configuration.ts';
import { ownPlugin } from './own-plugin.ts';

/** Makes a plug-in of the operator's own from what its profile says of it. */
type MakeOwn = (args: unknown) => object;

/** Throws an Error that says which profile cannot be made, and why. */
export function profilesOf(
  { gates, profiles, extenders }: SchedulerConfiguration,
  dialect: Dialect,
  own: ReadonlyMap<string, MakeOwn> = new Map(),
): readonly Profile[] {
  const ignored = extenders.flatMap(({ managedResources }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  );
  return profiles.map(({ schedulerName, sets, args, ownArgs, asksAllFilters }) => {
    const makeOwn = (name: string) => {
      const make = own.get(name);
      return make === undefined ? undefined : ownPlugin(name, make(ownArgs[name]));
    };
    try {
      const said = { schedulerName, sets, args: ignoring(args, ignored), asksAllFilters };
      return makeProfile({ ...said, dialect, gates, own: makeOwn });
    } catch (error) {
      throw new Error(`profile ${schedulerName}: ${messageOf(error)}`);
    }
  });
}

/** Resources that extenders look after do not count against a node. */
function ignoring(args: PluginArgs, resources: readonly string[]): PluginArgs {
  if (resources.length === 0) return args;
  const { ignoredResources, ignoredResourceGroups } = args.NodeResourcesFit;
  const all = [...ignoredResources, ...resources];
  return { ...args, NodeResourcesFit: { ignoredResources: all, ignoredResourceGroups } };
}
