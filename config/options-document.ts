// Writes docs/OPTIONS.md from the tables, as a text: a test compares the file with it, bin/write-options-doc.ts renews it.
import { DIALECTS } from './dialect.ts';
import { effectSections } from './effect-table.ts';
import { spellGate } from './feature-gates.ts';
import { defaultByProgram, optionDetails, optionSyntax } from './option-text.ts';
import { FEATURE_GATE_TABLE, type FeatureGateRow } from './options/feature-gate-table.ts';
import { ALL_PROGRAMS, type Option } from './options/option.ts';
import { GROUP_TITLES, OPTIONS } from './options.ts';

const dialect = DIALECTS.orch;

const INTRODUCTION = `# Options

This page is made from the option tables in \`config/options/\` by \`npm run docs\`; change it there.

Flags are written \`--name value\` or \`--name=value\`; a boolean alone means true, and false is written
\`--name=false\`. Of an option given twice the last wins, unless repeats add up. Names in defaults are those of the
dialect \`${dialect.name}\`.

The last column says what each does in this release (\`orch options --effects\` prints the same). *in force*: what it
says; the text is where that can be seen. *refused*: a value that asks for more than there is stops the start, because
ignoring it would do less than was asked. *not in force*: it changes nothing; a start with it says so in one line, and what
is on by default is named at every start.
`;

function cell(text: string): string {
  return dialect.spell(text).replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);

function defaultCell(option: Option): string {
  const each = defaultByProgram(option);
  if (each.length < 2) return each.map(([, text]) => code(text)).join('');
  return each.map(([programs, text]) => `${programs.join(', ')}: ${code(text) || 'none'}`).join('; ');
}

const effectCell = (state: string, text: string): string => `*${state}*: ${text}`;

function optionRow(option: Option): string {
  const description = [
    option.description,
    ...optionDetails(option),
    ...(option.deprecated === undefined ? [] : [`Deprecated: ${option.deprecated}.`]),
  ].join(' ');
  const effect = effectCell(...option.effect);
  return row([code(optionSyntax(option)), defaultCell(option), option.programs.join(', '), description, effect]);
}

function section(title: string): string {
  const rows = OPTIONS.filter(({ group }) => group === title).map(optionRow);
  return [
    `## ${title}`,
    '',
    row(['Option', 'Default', 'Programs', 'What it does', 'Effect']),
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** The stages of gates and the like stand between the default and the effect. */
function settingSection(title: string, heading: string, more: ReadonlyMap<string, string>): string {
  const { rows } = effectSections(dialect).find((section) => section.title === title)!;
  const lines = rows.map(({ name, standard, state, text }) =>
    row([code(name), ...(more.size === 0 ? [] : [more.get(name) ?? '']), standard, effectCell(state, text)]),
  );
  const columns = [heading, ...(more.size === 0 ? [] : ['Stage']), 'Default', 'Effect'];
  return [`## ${title}`, '', row(columns), `|${'---|'.repeat(columns.length)}`, ...lines, ''].join('\n');
}

const stages = new Map(FEATURE_GATE_TABLE.map(({ name, stage }: FeatureGateRow) => [spellGate(name, dialect), stage]));

/** The whole of docs/OPTIONS.md. */
export function optionsDocument(): string {
  const programs = ALL_PROGRAMS.join(', ');
  const introduction = `${INTRODUCTION}\nPrograms: ${programs}. \`up\` is the API server and the scheduler in one process.\n`;
  return [
    introduction,
    ...GROUP_TITLES.map(section),
    settingSection('Feature gates', 'Gate', stages),
    settingSection('Admission plugins', 'Plugin', new Map()),
  ].join('\n');
}
