// The profiles of a configuration file: which plug-ins run where, in what order and with what weight. What a profile says is
// laid over the default sets.
import { ConfigurationError } from '../../../config/configuration-file.ts';
import type { Section } from '../../../config/configuration-section.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { EnabledPlugin, PluginSets } from '../profiles/default-plugins.ts';
import { PLUGIN_ARGS, type PluginArgs } from '../profiles/plugin-args.ts';
import { EXTENSION_POINTS, type ExtensionPoint, PLUGINS } from '../profiles/plugin-table.ts';
import type { ProfileConfiguration } from './configuration.ts';
import { DEFAULT_SCHEDULER_NAME } from './defaults.ts';
import { readPluginArgs } from './read-args.ts';

const WEIGHT = { least: 0, most: 2 ** 31 - 1 };
const ALL = '*';

/** `asksAllFilters` is our own, for what a policy says by `alwaysCheckAllPredicates`: a configuration that is written holds it. */
export const PROFILE_MEMBERS = ['schedulerName', 'plugins', 'pluginConfig', 'asksAllFilters'];

/** Only a profile that is alone can go without a name. Throws ConfigurationError. */
export function readProfile(
  section: Section,
  base: PluginSets,
  dialect: Dialect,
  isAlone: boolean,
): ProfileConfiguration {
  const plugins = section.section('plugins', EXTENSION_POINTS);
  const sets = Object.fromEntries(EXTENSION_POINTS.map((point) => [point, readSet(plugins, point, base[point])]));
  return {
    schedulerName:
      isAlone && !section.has('schedulerName') ? DEFAULT_SCHEDULER_NAME : section.requiredText('schedulerName'),
    sets: sets as unknown as PluginSets,
    asksAllFilters: section.flag('asksAllFilters', false),
    ...readPluginConfig(section, dialect),
  };
}

/** The defaults without those that are disabled, and then those that are enabled. */
function readSet(plugins: Section, point: ExtensionPoint, base: readonly EnabledPlugin[]): readonly EnabledPlugin[] {
  const set = plugins.section(point, ['enabled', 'disabled']);
  const disabled = set.sections('disabled', ['name', 'weight']).map((each) => each.requiredText('name'));
  const kept = disabled.includes(ALL) ? [] : base.filter(({ name }) => !disabled.includes(name));
  const all = [...kept];
  for (const each of set.sections('enabled', ['name', 'weight'])) {
    const name = each.requiredText('name');
    if (all.some((other) => other.name === name)) {
      each.fail('name', `${name} runs there already; disable it first to give it another place or weight`);
    }
    all.push({ name, weight: each.number('weight', WEIGHT, 1) || 1 });
  }
  return all;
}

function readPluginConfig(section: Section, dialect: Dialect): Pick<ProfileConfiguration, 'args' | 'ownArgs'> {
  let args: PluginArgs = PLUGIN_ARGS;
  const ownArgs: Record<string, unknown> = {};
  const seen = new Set<string>();
  for (const each of section.sections('pluginConfig', ['name', 'args'])) {
    const name = each.requiredText('name');
    if (seen.has(name)) each.fail('name', `${name} is configured twice`);
    seen.add(name);
    const read = readPluginArgs(name, each.value('args'), each.at('args'), dialect);
    if (read !== undefined) args = { ...args, ...read };
    else if (!PLUGINS.has(name)) ownArgs[name] = each.value('args');
    else if (each.has('args')) each.fail('args', `${name} takes none`);
  }
  return { args, ownArgs };
}

/** What no profile can say alone. Throws ConfigurationError. */
export function checkProfiles(profiles: readonly ProfileConfiguration[]): void {
  profiles.forEach(({ schedulerName, sets }, at) => {
    if (profiles.findIndex((other) => other.schedulerName === schedulerName) < at) {
      throw new ConfigurationError(`profiles[${at}].schedulerName`, `${schedulerName} is the name of another profile`);
    }
    if (JSON.stringify(sets.queueSort) !== JSON.stringify(profiles[0]!.sets.queueSort)) {
      throw new ConfigurationError(
        `profiles[${at}].plugins.queueSort`,
        'must be the same in all profiles: they share a queue',
      );
    }
  });
}
