// From argv to typed options: which flag is meant, what its text says, and whether all of it can be used together. It
// opens no file and prints nothing; warnings and errors go back as lines for the command line to print.

import { formatDurationMs } from '../values/duration.ts';
import { ADMISSION_PLUGINS } from './admission-plugins.ts';
import { crossCheck } from './cross-checks.ts';
import { DIALECTS, type Dialect } from './dialect.ts';
import { elementsOf, optionWarnings, refuseWhatIsNotInForce, standingWarning } from './effects.ts';
import { parseFeatureGates } from './feature-gates.ts';
import { defaultText, type Option, type Program } from './options/option.ts';
import { parseBoolean, VALUE_TYPES } from './options/value-types.ts';
import { type OptionsByProgram, programOptions, type ServerOptions } from './options.ts';
import { nearestName } from './suggestion.ts';
import { UsageError } from './usage-error.ts';

/** What argv asks for: to print something and end, or to run with these options. */
export type ParsedArguments<P extends Program = Program> =
  | { readonly action: 'help' | 'version' }
  | {
      readonly action: 'run';
      readonly options: OptionsByProgram[P];
      /** One line each, to be logged before the start. */
      readonly warnings: readonly string[];
      /** What is on by default and does nothing, or less than it says, in one line. */
      readonly standing: string | undefined;
      /** The names, without dashes, of the options that argv sets. */
      readonly given: ReadonlySet<string>;
    };

interface GivenTexts {
  /** In order. */
  readonly texts: readonly string[];
  /** The name that the last was given by, without dashes: what is wrong with it is told of the name that its writer looks for. */
  readonly writtenAs: string;
}

type Given = ReadonlyMap<Option, GivenTexts>;

const SHOWN_LENGTH_MAX = 80;

/** What an operator typed, quoted and bounded, so that an error stays one line. */
function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}...` : text);
}

export interface Flags {
  readonly byName: ReadonlyMap<string, Option>;
  readonly byShorthand: ReadonlyMap<string, Option>;
}

/** The options of a program by each of their names, and by their letters. */
export function flagsOf(program: Program): Flags {
  const options = programOptions(program);
  return {
    byName: new Map(
      options.flatMap((option) =>
        [option.name, ...(option.aliases ?? []), ...(option.formerNames ?? [])].map((name) => [name, option]),
      ),
    ),
    byShorthand: new Map(options.flatMap((option) => (option.shorthand ? [[option.shorthand, option]] : []))),
  };
}

function unknownFlag(name: string, flags: Flags): UsageError {
  const nearest = nearestName(name, flags.byName.keys());
  const bounded = name.length > SHOWN_LENGTH_MAX ? `${name.slice(0, SHOWN_LENGTH_MAX)}...` : name;
  return new UsageError(`unknown flag: --${bounded}${nearest === undefined ? '' : ` (did you mean --${nearest}?)`}`);
}

interface ReadFlag {
  readonly option: Option;
  readonly text: string | undefined;
  readonly writtenAs: string;
}

/** One argument as the option it names and the text attached to it, if any. */
function readFlag(argument: string, flags: Flags): ReadFlag {
  if (argument.startsWith('--')) {
    const equalsAt = argument.indexOf('=');
    const name = argument.slice(2, equalsAt < 0 ? undefined : equalsAt).replaceAll('_', '-');
    const option = flags.byName.get(name);
    if (option === undefined) throw unknownFlag(name, flags);
    return { option, text: equalsAt < 0 ? undefined : argument.slice(equalsAt + 1), writtenAs: name };
  }
  const option = flags.byShorthand.get(argument[1]!);
  if (option === undefined) throw unknownShorthand(argument);
  const text = argument.length > 2 ? argument.slice(argument[2] === '=' ? 3 : 2) : undefined;
  return { option, text, writtenAs: option.name };
}

/** What is attached to it may be what another option keeps to itself: `-store-servers=…`, with one dash. */
function unknownShorthand(argument: string): UsageError {
  return new UsageError(`unknown shorthand flag: ${shown(argument.split('=', 1)[0]!)}`);
}

/** Whether an option is whole without a value behind it. */
export const takesNoText = ({ type }: Option): boolean => type === 'bool' || type === 'action';

/** The text of an option that none is attached to: the next argument, unless that is plainly another option. */
function nextText(writtenAs: string, next: string | undefined, flags: Flags): string {
  const isFlag = next?.startsWith('--') === true && flags.byName.has(next.slice(2).split('=', 1)[0]!);
  if (next === undefined || isFlag) throw new UsageError(`flag needs a value: --${writtenAs}`);
  return next;
}

/** The error for an argument that is no flag. After a boolean it is likely meant as its value, which Go never takes. */
function unexpectedArgument(argument: string, before: Option | undefined): UsageError {
  // Likely more of the same, behind a space where a comma belongs.
  if (before?.holdsSecrets === true) return new UsageError(`unexpected argument after --${before.name}`);
  const meant = before?.type === 'bool' && parseBoolean(argument) !== undefined;
  return new UsageError(
    `unexpected argument ${shown(argument)}${meant ? ` (did you mean --${before.name}=${argument}?)` : ''}`,
  );
}

/** Runs a step of the reading. One that fails is noted, and the reading goes on, so that everything wrong is told at once. */
function attempt<T>(problems: string[], step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    problems.push(error.message);
    return undefined;
  }
}

function tokenise(argv: readonly string[], flags: Flags, problems: string[], warnings: string[]): Given {
  const given = new Map<Option, GivenTexts>();
  let before: Option | undefined;
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index]!;
    if (argument === '--' && index === argv.length - 1) break;
    if (argument === '--') throw unexpectedArgument(argv[index + 1]!, undefined);
    if (!argument.startsWith('-') || argument === '-') throw unexpectedArgument(argument, before);
    const flag = attempt(problems, () => readFlag(argument, flags));
    if (flag === undefined) {
      // What follows is likely its value.
      if (!argument.includes('=') && argv[index + 1]?.startsWith('-') === false) index += 1;
      continue;
    }
    const { option, text: attached, writtenAs } = flag;
    if (option.formerNames?.includes(writtenAs)) warnings.push(`--${writtenAs} is deprecated: use --${option.name}`);
    let text = attached;
    if (text === undefined && takesNoText(option)) text = 'true';
    if (text === undefined) {
      index += 1;
      text = nextText(writtenAs, argv[index], flags);
    }
    given.set(option, { texts: [...(given.get(option)?.texts ?? []), text], writtenAs });
    // What follows a call for help is not read, so that help is there for whoever got the rest wrong.
    if (option.type === 'action' && readValue(option, { texts: [text], writtenAs }, DIALECTS.orch) === true) break;
    before = option;
  }
  return given;
}

/** One error of all that is wrong, of which there is something. */
function errorOf([first = '', ...others]: readonly string[]): UsageError {
  return new UsageError(first, others);
}

/** The same: where the reading cannot go on, that is told behind what was wrong before. Throws UsageError. */
function tokenised(argv: readonly string[], flags: Flags, problems: string[], warnings: string[]): Given {
  try {
    return tokenise(argv, flags, problems, warnings);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw errorOf([...problems, error.message]);
  }
}

/** What is wrong with a value that its type accepts; undefined when the option's own row accepts it too. */
function rowProblem(option: Option, value: unknown, dialect: Dialect): string | undefined {
  const { bounds, form, holdsSecrets = false, values } = option;
  if (bounds !== undefined && typeof value === 'number' && (value < bounds[0] || value > bounds[1])) {
    const [least, most] = option.type === 'duration' ? bounds.map(formatDurationMs) : bounds;
    return `must be within ${least} and ${most}${option.unit === undefined ? '' : ` ${option.unit}`}`;
  }
  if (option.type === 'duration' && (value as number) < 0) return 'must not be negative';
  const texts = elementsOf(value);
  if (values !== undefined) {
    const allowed = values.map(dialect.spell);
    const odd = texts.find((text) => !allowed.includes(text));
    if (odd !== undefined) return `${shown(odd)} is not one of ${allowed.filter((text) => text !== '').join(', ')}`;
  }
  const malformed = form && texts.find((text) => !form.pattern.test(text));
  if (malformed === undefined) return undefined;
  return `${holdsSecrets ? 'what is there' : shown(malformed)} is not of the form ${form!.says}`;
}

function readValue(option: Option, { texts, writtenAs }: GivenTexts, dialect: Dialect): unknown {
  try {
    const value = VALUE_TYPES[option.type].parse(texts);
    const problem = rowProblem(option, value, dialect);
    if (problem !== undefined) throw new UsageError(problem);
    if (option.type === 'settings') parseFeatureGates(value as string, dialect);
    return value;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const given = option.holdsSecrets === true ? '' : ` ${shown(texts.at(-1)!)}`;
    throw new UsageError(`invalid value${given} for --${writtenAs}: ${error.message}`);
  }
}

const OPEN_WARNING =
  '--authorization-mode AlwaysAllow lets everyone who is let in, service accounts included, do everything';

/** Beside AlwaysAllow, anonymous requests would let everybody do everything: they are switched off, and not silently. */
function settleAnonymous(options: ServerOptions): { anonymousAuth: boolean; warnings: string[] } {
  if (!options.anonymousAuth || !options.authorizationMode.includes('AlwaysAllow')) {
    return { anonymousAuth: options.anonymousAuth, warnings: [] };
  }
  const warning =
    '--anonymous-auth is not allowed with the authorizer AlwaysAllow and is reset to false; use a different authorizer';
  return { anonymousAuth: false, warnings: [warning] };
}

/** The plugins of --admission-control and no others, as the two options say it that came after it. */
function onlyPlugins(
  { admissionControl }: ServerOptions,
  given: ReadonlySet<string>,
): Pick<ServerOptions, 'enableAdmissionPlugins' | 'disableAdmissionPlugins'> {
  const beside = ['enable-admission-plugins', 'disable-admission-plugins'].find((name) => given.has(name));
  if (beside !== undefined) throw new UsageError(`--admission-control and --${beside} are mutually exclusive`);
  const others = ADMISSION_PLUGINS.map(({ name }) => name).filter((name) => !admissionControl.includes(name));
  return { enableAdmissionPlugins: admissionControl, disableAdmissionPlugins: others };
}

/** Of the store's two layouts one has leases. */
function idleLeases({ storeLayout }: ServerOptions, given: ReadonlySet<string>): readonly string[] {
  if (storeLayout !== 'own' || !given.has('lease-reuse-duration-seconds')) return [];
  return [
    '--lease-reuse-duration-seconds is not in force: events expire by their own age; there are no store leases in --store-layout own',
  ];
}

function dialectOf(given: Given): Dialect {
  const [option, texts] = [...given].find(([{ name }]) => name === 'api-dialect') ?? [];
  if (option === undefined) return DIALECTS.orch;
  return DIALECTS[readValue(option, texts!, DIALECTS.orch) as keyof typeof DIALECTS];
}

interface ReadOptions {
  /** By property, defaults included. */
  readonly values: Record<string, unknown>;
  readonly warnings: string[];
}

function readOptions(program: Program, given: Given, problems: string[]): ReadOptions {
  const dialect = attempt(problems, () => dialectOf(given)) ?? DIALECTS.orch;
  const values: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const option of programOptions(program)) {
    if (option.type === 'action') continue;
    const standardTexts = { texts: [dialect.spell(defaultText(option, program))], writtenAs: option.name };
    values[option.property] = readValue(option, standardTexts, dialect);
  }
  const isKnownDialect = problems.length === 0;
  for (const [option, texts] of given) {
    if (option.type === 'action' || (option.name === 'api-dialect' && !isKnownDialect)) continue;
    attempt(problems, () => {
      const value = readValue(option, texts, dialect);
      const { writtenAs } = texts;
      refuseWhatIsNotInForce(option, value, { standard: values[option.property], writtenAs });
      values[option.property] = value;
      warnings.push(...optionWarnings(option, value, writtenAs));
      if (option.type === 'settings') warnings.push(...parseFeatureGates(value as string, dialect).warnings);
    });
  }
  return { values, warnings };
}

/**
 * Reads `argv` (without the command's own words) for `program`. Flags may be written `--name value`, `--name=value`, `-v 4`,
 * `-v4`, and `_` for `-` as Go's flags allow; a boolean alone is true. Of an option given twice the last wins, unless it
 * is a list or map: then they add up. Anything that cannot be used is a UsageError of one line, with a line for each further
 * problem in `others`. SPEC.md, "API server
 * options", "Scheduler options", "Authentication", "Transport security", "Audit events", "Limits".
 */
export function parseArguments<P extends Program>(program: P, argv: readonly string[]): ParsedArguments<P> {
  const problems: string[] = [];
  const formerNames: string[] = [];
  const given = tokenised(argv, flagsOf(program), problems, formerNames);
  for (const [{ name, type }, { texts }] of given) {
    if (problems.length > 0) break;
    if (type === 'action' && parseBoolean(texts.at(-1)!) === true) return { action: name as 'help' | 'version' };
  }
  const { values, warnings } = readOptions(program, given, problems);
  warnings.unshift(...formerNames);
  const givenNames = new Set([...given.keys()].map(({ name }) => name));
  if (givenNames.has('admission-control'))
    attempt(problems, () => Object.assign(values, onlyPlugins(values as unknown as ServerOptions, givenNames)));
  const { disableAdmissionPlugins = [] } = values as Partial<ServerOptions>;
  const standing = program === 'scheduler' ? undefined : standingWarning(program, givenNames, disableAdmissionPlugins);
  if (program !== 'scheduler') {
    const options = values as unknown as ServerOptions;
    const settled = settleAnonymous(options);
    values.anonymousAuth = settled.anonymousAuth;
    warnings.push(...settled.warnings, ...idleLeases(options, givenNames));
    // What `apiserver` does by default is the contract's; `up` is closed unless it is opened.
    if (program === 'up' && options.authorizationMode.includes('AlwaysAllow')) warnings.push(OPEN_WARNING);
  }
  // The one place where a row's type becomes the static type that OptionsOf derived from the same row.
  const options = Object.freeze(values) as unknown as OptionsByProgram[P];
  problems.push(...crossCheck(program, options));
  if (problems.length > 0) throw errorOf(problems);
  return { action: 'run', options, warnings, standing, given: givenNames };
}
