// The help texts: the commands, and the options of one command, grouped, aligned and wrapped. They follow from the
// tables alone.
import { COMMAND_WORD, COMMANDS, type Command } from './commands.ts';
import { DIALECTS, type Dialect } from './dialect.ts';
import { optionDetails, optionSyntax } from './option-text.ts';
import { defaultText, type Option, type Program } from './options/option.ts';
import { GROUP_TITLES, programOptions } from './options.ts';

const WIDTH = 110;
const TEXT_COLUMN = 44;
const PROGRAM_NAME = 'orch';

/** Holds words together while a text is wrapped. */
const HARD_BLANK = '\u00a0';

/** `text` broken at blanks into lines of at most `width`; a longer word stands alone. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((done) => done.replaceAll(HARD_BLANK, ' '));
}

/** Two columns: `left` indented by two, `right` wrapped; a long `left` gets a line of its own. */
function columns(left: string, right: string, textColumn: number): readonly string[] {
  const head = `  ${left}`;
  const lines = wrap(right, WIDTH - textColumn);
  const indented = lines.map((line) => ' '.repeat(textColumn) + line);
  if (head.length + 2 > textColumn) return [head, ...indented];
  return [head.padEnd(textColumn) + lines[0]!, ...indented.slice(1)];
}

function optionLines(option: Option, program: Program, dialect: Dialect): readonly string[] {
  const standard = defaultText(option, program);
  const [state, why] = option.effect ?? ['in force', ''];
  const text = [
    option.description,
    ...(standard === '' || option.type === 'action' ? [] : [`Default ${standard}.`]),
    ...optionDetails(option),
    ...(option.deprecated === undefined ? [] : [`Deprecated: ${option.deprecated}.`]),
    ...(state === 'in force' ? [] : [`(${state}:`.replaceAll(' ', HARD_BLANK), `${why})`]),
  ].join(' ');
  return columns(optionSyntax(option), dialect.spell(text), TEXT_COLUMN);
}

/** The usage text of the whole program: its commands, one a line. */
export function usageText(): string {
  return [
    `Usage: ${PROGRAM_NAME} COMMAND`,
    '',
    ...commandLines(COMMANDS),
    '',
    `${PROGRAM_NAME} COMMAND --help lists the options of a command.`,
    '',
  ].join('\n');
}

function commandLines(commands: readonly Command[]): readonly string[] {
  return commands.flatMap(({ usage, description }) => columns(`${PROGRAM_NAME} ${usage}`, description, 32));
}

/**
 * What the command does that `argv` begins with, or each of its subcommands where the arguments name none of them. Arguments
 * after the command's words do not matter.
 */
export function descriptionText(argv: readonly string[]): string {
  for (let length = argv.length; length > 0; length -= 1) {
    const words = argv.slice(0, length);
    const named = COMMANDS.filter(({ usage }) => words.every((word, index) => usage.split(' ')[index] === word));
    if (named.length === 1) return named[0]!.description;
    if (named.length > 1) return commandLines(named).join('\n');
  }
  return '';
}

/**
 * What `argv` begins with up to the first word that no command has at that place; undefined where it names a command, or several.
 * What follows the words of a command may be its argument, and is the command's to judge.
 */
export function unknownCommand(argv: readonly string[]): readonly string[] | undefined {
  let named: readonly Command[] = COMMANDS;
  for (const [index, word] of argv.entries()) {
    const wordAt = ({ usage }: Command): string => usage.split(' ')[index] ?? '';
    if (word.startsWith('-') || !named.some((command) => COMMAND_WORD.test(wordAt(command)))) return undefined;
    named = named.filter((command) => wordAt(command) === word);
    if (named.length === 0) return argv.slice(0, index + 1);
  }
  return undefined;
}

/** The help text of `program`: every option it takes under its heading, with defaults as `dialect` spells them. */
export function helpText(program: Program, dialect: Dialect = DIALECTS.orch): string {
  const options = programOptions(program);
  const command = COMMANDS.find(({ usage }) => usage.split(' ', 1)[0] === program)!;
  const sections = GROUP_TITLES.flatMap((title) => {
    const rows = options.filter(({ group }) => group === title);
    return rows.length === 0 ? [] : ['', `${title}:`, ...rows.flatMap((row) => optionLines(row, program, dialect))];
  });
  return [`Usage: ${PROGRAM_NAME} ${command.usage}`, '', command.description, ...sections, ''].join('\n');
}
