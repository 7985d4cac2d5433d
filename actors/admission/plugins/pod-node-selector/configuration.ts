// The settings of PodNodeSelector: which labels the pods of a namespace may ask of their node.
import { ConfigurationError, memberPath, membersOf, objectOf, textOf } from '../../../../config/configuration-file.ts';
import type { ConfigurationFile } from '../plugin.ts';
import { type Labels, labelsOfText } from './label-text.ts';

/** The member that is about no namespace, but about those without an annotation of their own. */
const DEFAULT_MEMBER = 'clusterDefaultNodeSelector';
/** `imagePolicy` is another plugin's, which once shared the file. */
const MEMBERS = ['podNodeSelectorPluginConfig', 'imagePolicy'];

export interface NodeSelectorSettings {
  readonly standard: Labels;
  /** By namespace. */
  readonly allowed: Readonly<Record<string, Labels>>;
}

/** Throws ConfigurationError. */
export function readNodeSelectors({ content }: ConfigurationFile): NodeSelectorSettings {
  const { podNodeSelectorPluginConfig: config = {} } = membersOf(content, '', MEMBERS);
  const path = 'podNodeSelectorPluginConfig';
  const allowed: Record<string, Labels> = {};
  let standard: Labels = {};
  for (const [name, value] of Object.entries(objectOf(config ?? {}, path))) {
    const at = memberPath(path, name);
    const labels = labelsOfText(textOf(value, at));
    if (typeof labels === 'string') throw new ConfigurationError(at, labels);
    if (name === DEFAULT_MEMBER) standard = labels;
    else allowed[name] = labels;
  }
  return { standard, allowed };
}
