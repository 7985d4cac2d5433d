// What may come next on a command line: commands, options, and the values that an option has words for. Follows from the tables alone, so
// that an option is completed as soon as there is one. How a shell asks, and shows it, is completion-scripts.ts.
import { COMMAND_WORD, COMMANDS, type Command } from './commands.ts';
import { DIALECTS } from './dialect.ts';
import { ALL_PROGRAMS, type Option, type Program } from './options/option.ts';
import { programOptions } from './options.ts';
import { flagsOf, takesNoText } from './parse.ts';
import { SHELLS } from './shells.ts';
import { nearestName } from './suggestion.ts';

/** One way to go on. */
export interface Candidate {
  readonly text: string;
  /** One line; empty where the text says it all. */
  readonly description: string;
}

export interface Completions {
  readonly candidates: readonly Candidate[];
  /** Names of files fit as well. */
  readonly files: boolean;
}

const NOTHING: Completions = { candidates: [], files: false };
const FILES: Completions = { candidates: [], files: true };

/** Arguments of commands that have words, as their usage names them. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = { SHELL: SHELLS };
/** Arguments that are places in the file system. */
const FILE_ARGUMENT = /^(?:FILE|FILES|DIR)$/;

/**
 * What the last of `words` may become: it is the one that is being typed, and may be empty. The program's own name is not among
 * them. Total: words that make no sense have no completions.
 */
export function completionsOf(words: readonly string[]): Completions {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const program = programOf(before);
  const found = program === undefined ? afterCommand(before, typed) : optionsOf(program, before.at(-1) ?? '', typed);
  return { ...found, candidates: found.candidates.filter(({ text }) => text.startsWith(typed)) };
}

/** The command that was probably meant by words of which the last is none. */
export function nearestCommand(words: readonly string[]): string | undefined {
  const before = words.slice(0, -1);
  const { candidates } = completionsOf([...before, '']);
  const nearest = nearestName(
    words.at(-1) ?? '',
    candidates.map(({ text }) => text),
  );
  return nearest === undefined ? undefined : [...before, nearest].join(' ');
}

/** Whose options come next; `check-config` takes those of a server, `up` where it names none. */
function programOf([command, ...rest]: readonly string[]): Program | undefined {
  const isProgram = (name: string | undefined): name is Program => ALL_PROGRAMS.some((program) => program === name);
  if (isProgram(command)) return command;
  if (command !== 'check-config') return undefined;
  if (isProgram(rest[0])) return rest[0];
  return rest.length > 0 ? 'up' : undefined;
}

function afterCommand(before: readonly string[], typed: string): Completions {
  const named = COMMANDS.filter(({ usage }) => begins(usage.split(' '), before));
  const next = named.map(({ usage }) => usage.split(' ')[before.length] ?? '');
  if (before[0] === 'check-config') return programsOr(optionsOf('up', '', typed));
  if (before[0] === 'help' && before.length === 1) return { ...NOTHING, candidates: firstWords() };
  if (next.some((word) => COMMAND_WORD.test(word))) {
    const candidates = named.map(({ usage, description }) => ({ text: usage.split(' ')[before.length]!, description }));
    return { ...NOTHING, candidates: before.length === 0 ? firstWords() : candidates };
  }
  return argumentsOf(named);
}

/** Commands of several words that begin alike are one here, whose description is none of theirs. */
function firstWords(): readonly Candidate[] {
  const byWord = new Map<string, Candidate>();
  for (const { usage, description } of COMMANDS) {
    const text = usage.split(' ', 1)[0]!;
    byWord.set(text, { text, description: byWord.has(text) ? '' : description });
  }
  return [...byWord.values()];
}

function programsOr(options: Completions): Completions {
  const programs = firstWords().filter(({ text }) => ALL_PROGRAMS.some((program) => program === text));
  return { ...options, candidates: [...programs, ...options.candidates] };
}

/** Whether a command is one of these words, as far as both go: an argument is any word. */
function begins(usage: readonly string[], words: readonly string[]): boolean {
  return words.every((word, index) => !COMMAND_WORD.test(usage[index] ?? '') || usage[index] === word);
}

/** What a command of its own syntax takes, by its usage: flags, words, files. */
function argumentsOf(named: readonly Command[]): Completions {
  const rest = named.flatMap(({ usage }) => usage.split(' ').slice(1));
  const flags = rest.flatMap((word) => word.match(/--[a-z-]+/g) ?? []);
  const texts = [...flags, ...rest.flatMap((word) => ARGUMENTS[word] ?? [])];
  return {
    candidates: texts.map((text) => ({ text, description: '' })),
    files: rest.some((word) => FILE_ARGUMENT.test(word)),
  };
}

function optionsOf(program: Program, previous: string, typed: string): Completions {
  const { byName } = flagsOf(program);
  const equalsAt = typed.indexOf('=');
  if (typed.startsWith('--') && equalsAt > 0) {
    const option = byName.get(typed.slice(2, equalsAt));
    return option === undefined ? NOTHING : valuesOf(option, typed.slice(0, equalsAt + 1), typed.slice(equalsAt + 1));
  }
  const asked = previous.startsWith('--') ? byName.get(previous.slice(2)) : undefined;
  if (asked !== undefined && !takesNoText(asked)) return valuesOf(asked, '', typed);
  const candidates = programOptions(program)
    .filter(({ deprecated }) => deprecated === undefined)
    .map(({ name, description }) => ({ text: `--${name}`, description: DIALECTS.orch.spell(description) }));
  return { ...NOTHING, candidates };
}

/** Behind `prefix` the values that an option has words for; of a list the one behind the last comma. */
function valuesOf({ type, values, repeatable }: Option, prefix: string, typed: string): Completions {
  if (type === 'path') return FILES;
  const texts = type === 'bool' ? ['true', 'false'] : (values ?? []).filter((value) => value !== '');
  const earlier = repeatable ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const candidates = texts.map((text) => ({ text: prefix + earlier + DIALECTS.orch.spell(text), description: '' }));
  return { candidates, files: false };
}
