// What a start says and refuses because of what settings do in this release: nothing is accepted that does less than it says
// without a word about it. The effects themselves stand in the rows of the tables.
import { ADMISSION_PLUGINS, type AdmissionPluginRow } from './admission-plugins.ts';
import { defaultText, type Option, type Program } from './options/option.ts';
import { programOptions } from './options.ts';
import { UsageError } from './usage-error.ts';

const NOT_AVAILABLE = 'is not available in this release, and ignoring it would do less than you asked for';
const PLUGINS: readonly AdmissionPluginRow[] = ADMISSION_PLUGINS;

/** The texts in a value that names or forms are about: the text, the elements, or the keys. */
export function elementsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Map) return [...value.keys()];
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : [];
}

/** The value's parts as `valuesInForce` lists them. */
const partsOf = (value: unknown): readonly string[] =>
  typeof value === 'boolean' || typeof value === 'number' ? [String(value)] : elementsOf(value);

const comparable = (value: unknown): string => JSON.stringify(value instanceof Map ? [...value] : value);

/**
 * Throws UsageError for a value that asks for more than there is, unless a warning is enough. `standard` is the default, `writtenAs` the
 * name that the option was given by.
 */
export function refuseWhatIsNotInForce(
  option: Option,
  value: unknown,
  { standard, writtenAs: name }: { readonly standard: unknown; readonly writtenAs: string },
): void {
  const {
    valuesInForce,
    effect: [state, why],
  } = option;
  if (state === 'not in force') return;
  if (valuesInForce !== undefined) {
    const missing = partsOf(value).find((text) => !valuesInForce.includes(text));
    if (missing === undefined) return;
    const available = valuesInForce.filter((text) => text !== '').join(', ');
    throw new UsageError(`--${name} ${missing} ${NOT_AVAILABLE}; available are ${available}`);
  }
  if (state === 'in force' || comparable(value) === comparable(standard)) return;
  throw new UsageError(`--${name} ${NOT_AVAILABLE} (${why}); remove it to start`);
}

/** What a start says of an option that was set, one line each; `name` is the one that it was given by. */
export function optionWarnings(option: Option, value: unknown, name: string): readonly string[] {
  const { deprecated, deprecatedValues = [], insecureValues = [], effect } = option;
  const deprecatedGiven = elementsOf(value).filter((text) => deprecatedValues.includes(text));
  const insecureGiven = elementsOf(value).filter((text) => insecureValues.includes(text));
  return [
    ...(deprecated === undefined ? [] : [`--${name} is deprecated: ${deprecated}`]),
    ...deprecatedGiven.map((text) => `--${name} ${text} is deprecated`),
    ...insecureGiven.map((text) => `--${name} ${text} is insecure`),
    ...(promisesTooMuch(option, partsOf(value)) ? [`--${name} is not in force: ${effect[1]}`] : []),
  ];
}

/** True where a value was accepted that changes nothing, and that something else than it were expected of. */
function promisesTooMuch({ effect, valuesInForce }: Option, parts: readonly string[]): boolean {
  if (effect[0] === 'in force') return false;
  return valuesInForce === undefined || !parts.every((part) => valuesInForce.includes(part));
}

/**
 * What is on by default and does nothing here, or only a part: options that were not given, and admission plugins that were
 * not disabled. One line; undefined when there is no such.
 */
export function standingWarning(
  program: Program,
  given: ReadonlySet<string>,
  disabledPlugins: readonly string[],
): string | undefined {
  const options = programOptions(program).filter(
    (option) =>
      !given.has(option.name) &&
      option.valuesInForce !== undefined &&
      promisesTooMuch(option, [defaultText(option, program)]),
  );
  const plugins = PLUGINS.filter(
    ({ name, isDefault, built }) => isDefault && built !== 'whole' && !disabledPlugins.includes(name),
  ).map(({ name, built }) => (built === 'part' ? `${name} (in part)` : name));
  const lists = [
    options.length === 0 ? [] : [options.map(({ name }) => `--${name}`).join(', ')],
    plugins.length === 0 ? [] : [`the admission plugins ${plugins.join(', ')}`],
  ].flat();
  if (lists.length === 0) return undefined;
  return `on by default and not in force in this release: ${lists.join('; ')} (see orch options --effects)`;
}
