// Every option, feature gate and admission plugin with its default and what it does in this release: the rows, and their
// text for a terminal. docs/OPTIONS.md shows the same.
import { pluginEffect } from './admission-plugin-effects.ts';
import { ADMISSION_PLUGINS } from './admission-plugins.ts';
import type { Dialect } from './dialect.ts';
import { gateEffect, spellGate } from './feature-gates.ts';
import { defaultByProgram } from './option-text.ts';
import { FEATURE_GATE_TABLE } from './options/feature-gate-table.ts';
import type { Effect, EffectState, Option } from './options/option.ts';
import { OPTIONS } from './options.ts';

/** One setting. Texts are spelled by the dialect they were made for. */
export interface EffectRow {
  readonly name: string;
  readonly standard: string;
  readonly state: EffectState;
  readonly text: string;
}

export interface EffectSection {
  readonly title: string;
  readonly rows: readonly EffectRow[];
}

function standardOf(option: Option): string {
  const each = defaultByProgram(option);
  const [only] = each;
  if (each.length === 1) return only![1];
  return each.map(([programs, text]) => `${programs.join(', ')}: ${text === '' ? 'none' : text}`).join('; ');
}

/** All there is to set, in the order of the tables. */
export function effectSections(dialect: Dialect): readonly EffectSection[] {
  const row = (name: string, standard: string, [state, text]: Effect): EffectRow => ({
    name,
    standard: dialect.spell(standard),
    state,
    text: dialect.spell(text),
  });
  return [
    {
      title: 'Options',
      rows: OPTIONS.map((option) => row(`--${option.name}`, standardOf(option), option.effect)),
    },
    {
      title: 'Feature gates',
      rows: FEATURE_GATE_TABLE.map((gate) => row(spellGate(gate.name, dialect), `${gate.default}`, gateEffect(gate))),
    },
    {
      title: 'Admission plugins',
      rows: ADMISSION_PLUGINS.map((plugin) => row(plugin.name, plugin.isDefault ? 'on' : 'off', pluginEffect(plugin))),
    },
  ];
}

const DEFAULT_WIDTH_MAX = 40;
const STATE_WIDTH = 'not in force'.length;

/** The sections as aligned columns, a setting a line; without effects only names and defaults. */
export function settingsText(dialect: Dialect, withEffects: boolean): string {
  return effectSections(dialect)
    .map(({ title, rows }) => {
      const nameWidth = Math.max(...rows.map(({ name }) => name.length));
      const standardWidth = Math.min(DEFAULT_WIDTH_MAX, Math.max(...rows.map(({ standard }) => standard.length)));
      const lines = rows.map(({ name, standard, state, text }) => {
        const shown = `  ${name.padEnd(nameWidth)}  ${standard.padEnd(standardWidth)}`;
        return (withEffects ? `${shown}  ${state.padEnd(STATE_WIDTH)}  ${text}` : shown).trimEnd();
      });
      return [`${title}:`, ...lines].join('\n');
    })
    .join('\n\n');
}
