// Loads the plug-ins of an operator's own (docs/SCHEDULER-PLUGINS.md): modules that the configuration names, each of which exports
// `plugins`, by name a function that makes one from its args. What a module does is the operator's business; what it exports is
// checked.
import { fileURLToPath } from 'node:url';
import { type AnyPlugin, PLUGINS } from '../profiles/plugin-table.ts';

/** Makes a plug-in; `args` is what the profile's pluginConfig says of it. */
export type MakeOwnPlugin = (args: unknown) => Omit<AnyPlugin, 'name'>;

/** What the modules at these file URLs export, by name. Rejects with an Error that names the module. */
export async function loadOwnPlugins(modules: readonly string[]): Promise<ReadonlyMap<string, MakeOwnPlugin>> {
  const makers = new Map<string, MakeOwnPlugin>();
  for (const url of modules) {
    const path = fileURLToPath(url);
    const { plugins } = await moduleAt(url, path);
    if (typeof plugins !== 'object' || plugins === null) throw new Error(`${path} exports no plugins`);
    for (const [name, make] of Object.entries(plugins)) {
      if (typeof make !== 'function') throw new Error(`${path}: plugins.${name} is not a function`);
      if (makers.has(name) || PLUGINS.has(name)) throw new Error(`${path}: there is a plug-in ${name} already`);
      makers.set(name, make as MakeOwnPlugin);
    }
  }
  return makers;
}

async function moduleAt(url: string, path: string): Promise<{ readonly plugins?: unknown }> {
  try {
    return (await import(url)) as { readonly plugins?: unknown };
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new Error(`the plug-ins of ${path} cannot be loaded: ${why}`);
  }
}
