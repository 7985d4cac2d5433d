// What the help text and the documentation both say about an option, each fact once: how it is written, its bounds and
// values, and whether it works in this release.
import { formatDurationMs } from '../values/duration.ts';
import { defaultText, INT32_MAX, type Option, type Program } from './options/option.ts';
import { VALUE_TYPES } from './options/value-types.ts';

/** `-v, --v int`, `--request-timeout duration`, `--profiling`. */
export function optionSyntax(option: Option): string {
  const names = [option.name, ...(option.aliases ?? []), ...(option.formerNames ?? [])].map((name) => `--${name}`);
  const shorthand = option.shorthand === undefined ? [] : [`-${option.shorthand}`];
  return `${[...shorthand, ...names].join(', ')} ${VALUE_TYPES[option.type].placeholder}`.trimEnd();
}

function boundsText({ type, bounds, unit }: Option): string | undefined {
  const counted = unit === undefined ? '' : ` ${unit}`;
  if (bounds === undefined) return unit === undefined ? undefined : `In ${unit}.`;
  const [least, most] = type === 'duration' ? bounds.map(formatDurationMs) : bounds;
  return bounds[1] >= INT32_MAX ? `At least ${least}${counted}.` : `From ${least} to ${most}${counted}.`;
}

/** The sentences after the description: bounds, values, repetition. Values keep their markers. */
export function optionDetails(option: Option): readonly string[] {
  const { values, valuesInForce, repeatable } = option;
  const listed = values?.filter((value) => value !== '').join(', ');
  const working = listed === undefined ? undefined : valuesInForce?.join(', ');
  return [
    boundsText(option),
    listed === undefined ? undefined : `${repeatable ? 'Any of' : 'One of'} ${listed}.`,
    working === undefined ? undefined : `In this release only ${working}; others are refused.`,
    repeatable ? 'Repeats add up.' : undefined,
  ].filter((sentence) => sentence !== undefined);
}

/** The default, as a table shows it: one text, or one for each program. */
export function defaultByProgram(option: Option): readonly (readonly [programs: readonly Program[], text: string])[] {
  if (option.type === 'action') return [];
  const texts = new Set(option.programs.map((program) => defaultText(option, program)));
  return [...texts].map((text) => [option.programs.filter((program) => defaultText(option, program) === text), text]);
}
