// Loads plug-ins that are not built in: modules that the configuration names, each of which exports `plugins`, by name a
// function that makes one from its args. What a module does is the operator's business; what it exports is checked.
import type { AnyPlugin } from '../framework/plugin-table.ts';
import { PLUGINS } from '../framework/plugin-table.ts';

/** Makes a plug-in; `args` is what the profile's pluginConfig says of it. */
export type MakeOwnPlugin = (args: unknown) => Omit<AnyPlugin, 'name'>;

/** By name. Throws an Error that names the module. */
export async function loadOwnPlugins(modules: readonly string[]): Promise<ReadonlyMap<string, MakeOwnPlugin>> {
  const makers = new Map<string, MakeOwnPlugin>();
  for (const url of modules) {
    const { plugins } = (await import(url)) as { readonly plugins?: unknown };
    if (typeof plugins !== 'object' || plugins === null) throw new Error(`${url} exports no plugins`);
    for (const [name, make] of Object.entries(plugins)) {
      if (typeof make !== 'function') throw new Error(`${url}: plugins.${name} is not a function`);
      if (makers.has(name) || PLUGINS.has(name)) throw new Error(`${url}: there is a plug-in ${name} already`);
      makers.set(name, make as MakeOwnPlugin);
    }
  }
  return makers;
}
