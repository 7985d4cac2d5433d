// The file of `--admission-control-config-file`: which plugin's settings stand where, each read and checked whole before anything
// starts. What a plugin's own settings mean is with the plugin (actors/admission/plugins).
import { dirname, resolve } from 'node:path';
import type { PluginConfigurations } from '../../actors/admission/plugins/plugin.ts';
import { PLUGIN_KINDS } from '../../actors/admission/plugins/plugins.ts';
import { isJsonObject } from '../../api/json/json-value.ts';
import { ADMISSION_PLUGINS, type AdmissionPluginName } from '../../config/admission-plugins.ts';
import { ConfigurationError, listOf, membersOf, requireText, textOf } from '../../config/configuration-file.ts';
import type { Dialect } from '../../config/dialect.ts';
import { connectionOf, credentialsOf } from './auth-methods.ts';
import { inOperatorFile, operatorContent } from './operator-file.ts';

/** What errors call the file, and those it names. */
const WHAT = 'the admission configuration';
/** In each of them an AdmissionConfiguration says the same. */
const API_VERSIONS = ['apiserver.config.@group/v1', 'apiserver.@group/v1beta1', 'apiserver.@group/v1alpha1'];
/** Older than AdmissionConfiguration: the whole file is the settings of those plugins whose member it has. */
const LEGACY_MEMBERS: readonly (readonly [member: string, name: AdmissionPluginName])[] = [
  ['imagePolicy', 'ImagePolicyWebhook'],
  ['podNodeSelectorPluginConfig', 'PodNodeSelector'],
];

/** Settings of one plugin, and where they stand. */
interface Entry {
  readonly name: AdmissionPluginName;
  /** The file they stand in. */
  readonly file: string;
  /** Where in it: blank for the whole. */
  readonly path: string;
  readonly content: unknown;
}

/** The settings of every plugin that the file names. Throws OrchError BadConfiguration with one line. */
export function readAdmissionFile(file: string, dialect: Dialect): PluginConfigurations {
  const configurations: Partial<Record<AdmissionPluginName, unknown>> = {};
  for (const entry of entriesOf(file, dialect)) {
    const configuration = inOperatorFile(entry.file, WHAT, entry.path, () => configurationOf(entry, dialect));
    if (configuration !== undefined) configurations[entry.name] = configuration;
  }
  return configurations;
}

function entriesOf(file: string, dialect: Dialect): readonly Entry[] {
  const content = operatorContent(file, WHAT);
  const legacy = LEGACY_MEMBERS.filter(([member]) => isJsonObject(content) && Object.hasOwn(content, member));
  if (legacy.length > 0) return legacy.map(([, name]) => ({ name, file, path: '', content }));
  return inOperatorFile(file, WHAT, '', () => {
    const members = membersOf(content, '', ['apiVersion', 'kind', 'plugins'], 'an AdmissionConfiguration');
    requireText(members, 'kind', 'AdmissionConfiguration');
    requireText(members, 'apiVersion', ...API_VERSIONS.map(dialect.spell));
    const named = new Set<string>();
    return listOf(members.plugins, 'plugins').map((plugin, index) => entryOf(plugin, `plugins[${index}]`, file, named));
  });
}

function entryOf(plugin: unknown, at: string, file: string, named: Set<string>): Entry {
  const { name: given, path, configuration } = membersOf(plugin, at, ['name', 'path', 'configuration']);
  const name = textOf(given, `${at}.name`);
  const row = ADMISSION_PLUGINS.find((one) => one.name === name);
  if (row === undefined)
    throw new ConfigurationError(`${at}.name`, `no admission plugin is called ${JSON.stringify(name)}`);
  if (named.has(name)) throw new ConfigurationError(`${at}.name`, `${name} is named twice`);
  named.add(name);
  const other = textOf(path, `${at}.path`);
  if (configuration !== undefined && configuration !== null)
    return { name: row.name, file, path: `${at}.configuration`, content: configuration };
  if (other === '') return { name: row.name, file, path: '', content: undefined };
  const own = resolve(dirname(file), other);
  return { name: row.name, file: own, path: '', content: operatorContent(own, WHAT) };
}

function configurationOf({ name, file, content }: Entry, dialect: Dialect): unknown {
  if (content === undefined) return undefined;
  const kind = PLUGIN_KINDS.find((one) => one.name === name);
  if (kind?.readConfiguration === undefined) throw new ConfigurationError('', `${name} takes no configuration`);
  const beside = (path: string): string => resolve(dirname(file), path);
  return kind.readConfiguration({
    content,
    dialect,
    connection: (path) => connectionOf(beside(path)),
    credentials: (path) => credentialsOf(beside(path)),
  });
}
