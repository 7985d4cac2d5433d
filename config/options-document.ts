// Writes docs/OPTIONS.md from the tables, as a text: a test compares the file with it, bin/write-options-doc.ts renews it.
import { DIALECTS } from './dialect.ts';
import { spellGate } from './feature-gates.ts';
import { optionDetails, optionState, optionSyntax } from './option-text.ts';
import { FEATURE_GATE_TABLE, type FeatureGateRow } from './options/feature-gate-table.ts';
import { ALL_PROGRAMS, defaultText, type Option } from './options/option.ts';
import { GROUP_TITLES, OPTIONS } from './options.ts';

const dialect = DIALECTS.orch;

const INTRODUCTION = `# Options

This page is made from the option tables in \`config/options/\` by \`npm run docs\`; change it there.

Flags are written \`--name value\` or \`--name=value\`; a boolean alone means true, and false is written
\`--name=false\`. Of an option given twice the last wins, unless repeats add up. Names in defaults are those of the
dialect \`${dialect.name}\`.

An option that says *no effect yet* is accepted with a warning. One that says *refused: not available yet* stops the
start when it is set to anything but its default, because ignoring it would do less than was asked.
`;

function cell(text: string): string {
  return dialect.spell(text).replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);

function defaultCell(option: Option): string {
  if (option.type === 'action') return '';
  const texts = new Set(option.programs.map((program) => defaultText(option, program)));
  if (texts.size === 1) return [...texts].map(code).join('');
  return [...texts]
    .map((text) => {
      const programs = option.programs.filter((program) => defaultText(option, program) === text);
      return `${programs.join(', ')}: ${code(text) || 'none'}`;
    })
    .join('; ');
}

function optionRow(option: Option): string {
  const state = optionState(option);
  const description = [
    option.description,
    ...optionDetails(option),
    ...(option.deprecated === undefined ? [] : [`Deprecated: ${option.deprecated}.`]),
    ...(state === undefined ? [] : [`*${state}*`]),
  ].join(' ');
  return row([code(optionSyntax(option)), defaultCell(option), option.programs.join(', '), description]);
}

function section(title: string): string {
  const rows = OPTIONS.filter(({ group }) => group === title).map(optionRow);
  return [
    `## ${title}`,
    '',
    row(['Option', 'Default', 'Programs', 'What it does']),
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function featureGateSection(): string {
  const rows = FEATURE_GATE_TABLE.map((gate: FeatureGateRow) =>
    row([code(spellGate(gate.name, dialect)), gate.stage, `${gate.default}`, gate.locked ? 'locked' : '']),
  );
  return ['## Feature gates', '', row(['Gate', 'Stage', 'Default', '']), '|---|---|---|---|', ...rows, ''].join('\n');
}

/** The whole of docs/OPTIONS.md. */
export function optionsDocument(): string {
  const programs = ALL_PROGRAMS.join(', ');
  const introduction = `${INTRODUCTION}\nPrograms: ${programs}. \`up\` is the API server and the scheduler in one process.\n`;
  return [introduction, ...GROUP_TITLES.map(section), featureGateSection()].join('\n');
}
