// Files that an operator names in options: as text, or as what their YAML or JSON says. Whatever is wrong with one is told in one
// line that names the file and what it is for, and never quotes what stands in it, which may be a secret.
import { statSync } from 'node:fs';
import { ConfigurationError, memberPath } from '../../config/configuration-file.ts';
import { messageOf, OrchError } from '../../runtime/errors.ts';
import { readWholeText, whyUnread } from '../../runtime/files/whole-file.ts';
import { duplicateFields } from '../../transport/duplicate-fields.ts';
import { ConnectionFileError } from '../../transport/outgoing/connection-file.ts';
import { parseYaml } from '../../transport/yaml/read.ts';

const DEPTH_MAX = 32;

/** By path: a pipe (a shell's `<(…)`) has its text once, and several parts of a start look at the same file. */
const pipedTexts = new Map<string, string>();

/** The text of the file. `what` it is, where the path does not say. Throws OrchError BadConfiguration, naming the file. */
export function operatorText(file: string, what = ''): string {
  const known = pipedTexts.get(file);
  if (known !== undefined) return known;
  try {
    const text = readWholeText(file);
    if (statSync(file).isFIFO()) pipedTexts.set(file, text);
    return text;
  } catch (error) {
    throw new OrchError('BadConfiguration', `${named(file, what)} cannot be read (${whyUnread(error)})`);
  }
}

/** What the file says, in YAML or JSON. Throws OrchError BadConfiguration. */
export function operatorContent(file: string, what: string): unknown {
  const text = operatorText(file, what);
  return inOperatorFile(file, what, '', () => contentOf(text));
}

/**
 * Does what may find a mistake in the content of a file, or in the part of it that is at `path`. Throws what is found as
 * OrchError BadConfiguration.
 */
export function inOperatorFile<T>(file: string, what: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigurationError)
      throw unusableFile(file, what, new ConfigurationError(memberPath(path, error.path), error.problem).message);
    if (error instanceof ConnectionFileError) throw unusableFile(file, what, error.message);
    throw error;
  }
}

/** The error of a file that was read and is of no use. */
export function unusableFile(file: string, what: string, problem: string): OrchError {
  return new OrchError('BadConfiguration', `${named(file, what)}: ${problem}`);
}

function named(file: string, what: string): string {
  return what === '' ? file : `${what} ${file}`;
}

/** What the text of such a file says, in YAML or JSON. Throws ConfigurationError. */
export function contentOf(text: string): unknown {
  const { content, repeated } = text.trimStart().startsWith('{') ? ofJson(text) : ofYaml(text);
  // One of them would count, and nobody be told which.
  if (repeated.length > 0) throw new ConfigurationError('', `${repeated[0]} is there more than once in a mapping`);
  return content;
}

interface Read {
  readonly content: unknown;
  /** Members that are there more than once. */
  readonly repeated: readonly string[];
}

function ofJson(text: string): Read {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // Node's own message quotes the text around the mistake.
    throw new ConfigurationError('', 'is not valid JSON');
  }
  return { content, repeated: duplicateFields(text) };
}

function ofYaml(text: string): Read {
  const repeated: string[] = [];
  try {
    return { content: parseYaml(text, DEPTH_MAX, repeated), repeated };
  } catch (error) {
    throw new ConfigurationError('', messageOf(error).split('\n', 1)[0]!);
  }
}
