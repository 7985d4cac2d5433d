// Reads the text of --feature-gates against the table of gates. It says what is switched on; what a gate changes is
// decided where the feature is, and the warnings are printed by whoever asked.
import { DIALECTS, type Dialect } from './dialect.ts';
import { FEATURE_GATE_TABLE, type FeatureGateRow } from './options/feature-gate-table.ts';
import type { Effect } from './options/option.ts';
import { parseBoolean } from './options/value-types.ts';
import { nearestName } from './suggestion.ts';
import { UsageError } from './usage-error.ts';

export type FeatureGateName = (typeof FEATURE_GATE_TABLE)[number]['name'];

/** The gates as set at a start. */
export interface FeatureGates {
  /** Whether the feature is on. */
  enabled(name: FeatureGateName): boolean;
  /** One line for each gate set although its feature is stable or on its way out, or nothing depends on it; or not set with its stage. */
  readonly warnings: readonly string[];
}

/** Gates that stand for every gate of a stage which is not itself named. */
const STAGE_GATES: ReadonlyMap<string, string> = new Map([
  ['AllAlpha', 'Alpha'],
  ['AllBeta', 'Beta'],
]);

const NOTHING_DEPENDS = 'nothing in this release depends on it';
const ROWS: readonly FeatureGateRow[] = FEATURE_GATE_TABLE;
const TEXT_LENGTH_MAX = 65_536;

/** A gate's name as this dialect's operators type it. */
export function spellGate(name: string, { nodeAgent }: Dialect): string {
  return name.replace('@Agent', `${nodeAgent[0]!.toUpperCase()}${nodeAgent.slice(1)}`);
}

function parseSettings(text: string, dialect: Dialect): ReadonlyMap<FeatureGateRow, boolean> {
  if (text.length > TEXT_LENGTH_MAX) throw new UsageError('the list of feature gates is too long');
  const rowBySpelling = new Map(ROWS.map((row) => [spellGate(row.name, dialect), row]));
  const settings = new Map<FeatureGateRow, boolean>();
  for (const setting of text.split(',')) {
    if (setting.trim() === '') continue;
    const [name, valueText] = setting.split(/=(.*)/s, 2).map((part) => part.trim());
    const row = rowBySpelling.get(name!);
    if (row === undefined) throw unknownGate(name!, rowBySpelling.keys());
    if (valueText === undefined) throw new UsageError(`feature gate ${name} has no value; write ${name}=true or false`);
    const value = parseBoolean(valueText);
    if (value === undefined) {
      throw new UsageError(`feature gate ${name} must be true or false, not ${JSON.stringify(valueText)}`);
    }
    const refusal = refusalOf(row);
    if (refusal !== undefined && value !== row.default) {
      throw new UsageError(`feature gate ${name} cannot be set to ${value}: ${refusal}`);
    }
    settings.set(row, value);
  }
  return settings;
}

function unknownGate(name: string, known: Iterable<string>): UsageError {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  return new UsageError(`no feature gate is called ${JSON.stringify(name)}${hint}`);
}

/** A stable gate that nothing depends on cannot be switched off either: the feature would stay (SPEC.md, "Errors"). */
function isLocked({ locked, stage, effect }: FeatureGateRow): boolean {
  return locked === true || (stage === 'GA' && effect === undefined);
}

/** Why a gate stays at its default; undefined where it can be set. */
function refusalOf(row: FeatureGateRow): string | undefined {
  return isLocked(row) ? `it is locked to ${row.default}` : row.refusal;
}

/** What a gate does in this release. */
export function gateEffect(row: FeatureGateRow): Effect {
  const refusal = refusalOf(row);
  if (refusal !== undefined) return ['refused', refusal];
  return row.effect === undefined ? ['not in force', NOTHING_DEPENDS] : ['in force', row.effect];
}

function warningOf(row: FeatureGateRow, setting: string): string | undefined {
  const { stage, effect, refusal } = row;
  // Set to what it is.
  if (refusal !== undefined) return undefined;
  if (stage === 'GA' || stage === 'Deprecated') {
    const why = stage === 'GA' ? 'its feature is stable' : 'it is deprecated';
    const inert = effect === undefined ? `; ${NOTHING_DEPENDS}` : '';
    return `feature gate ${setting} will be refused in a later release: ${why}${inert}`;
  }
  return effect === undefined ? `feature gate ${setting} is not in force: ${NOTHING_DEPENDS}` : undefined;
}

function warningsOf(settings: ReadonlyMap<FeatureGateRow, boolean>, dialect: Dialect): readonly string[] {
  const ofNamed = [...settings].map(([row, value]) => warningOf(row, `${spellGate(row.name, dialect)}=${value}`));
  return [...ofNamed, ...[...settings].flatMap(([row, value]) => staysOf(row, value, settings, dialect))].filter(
    (warning) => warning !== undefined,
  );
}

/** One line for each gate that setting the gate of its stage does not reach, unless it is itself named. */
function staysOf(
  { name }: FeatureGateRow,
  value: boolean,
  settings: ReadonlyMap<FeatureGateRow, boolean>,
  dialect: Dialect,
): readonly string[] {
  const staying = ROWS.filter((row) => isReached(row, name) && staysAtDefault(row, value) && !settings.has(row));
  return staying.map((row) => `feature gate ${spellGate(row.name, dialect)} stays ${row.default}: ${row.refusal}`);
}

/** Whether the gate of a stage stands for `row`. */
function isReached(row: FeatureGateRow, stageGate: string): boolean {
  return row.stage === STAGE_GATES.get(stageGate) && !STAGE_GATES.has(row.name);
}

function staysAtDefault({ refusal, default: standard }: FeatureGateRow, value: boolean): boolean {
  return refusal !== undefined && value !== standard;
}

/**
 * The gates after `text`, `Name=true,Name=false` with Go's booleans; blank for the defaults. A gate that is named wins
 * over AllAlpha and AllBeta, wherever it stands; of two settings of one gate the last wins. An unknown gate, a value that
 * is no boolean, and another value for a gate that keeps its default are UsageErrors; AllAlpha and AllBeta leave that one as it
 * is, with a warning. SPEC.md, "Feature gates".
 */
export function parseFeatureGates(text: string, dialect: Dialect = DIALECTS.orch): FeatureGates {
  const settings = parseSettings(text, dialect);
  const enabledByName = new Map<string, boolean>(ROWS.map((row) => [row.name, row.default]));
  for (const [{ name }, value] of settings) {
    for (const row of ROWS) if (isReached(row, name) && !staysAtDefault(row, value)) enabledByName.set(row.name, value);
  }
  for (const [{ name }, value] of settings) enabledByName.set(name, value);
  return { enabled: (name) => enabledByName.get(name)!, warnings: warningsOf(settings, dialect) };
}
