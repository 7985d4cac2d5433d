// Goal: gates are what the contract says, and a text changes exactly those it names. Method: against the contract's table.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { DIALECTS } from '../../../config/dialect.ts';
import { type FeatureGateName, parseFeatureGates, spellGate } from '../../../config/feature-gates.ts';
import { FEATURE_GATE_TABLE, type FeatureGateRow } from '../../../config/options/feature-gate-table.ts';
import { UsageError } from '../../../config/usage-error.ts';
import { sourceFiles } from '../source-tree.ts';

interface GateFact {
  readonly name: string;
  readonly default: boolean;
  readonly stage: string;
  readonly locked: boolean;
}

const facts = JSON.parse(readFileSync('test/fixtures/feature-gates.json', 'utf8')) as readonly GateFact[];
const rows: readonly FeatureGateRow[] = FEATURE_GATE_TABLE;
const namesOf = (stage: string): readonly FeatureGateName[] =>
  FEATURE_GATE_TABLE.filter((row) => row.stage === stage && row.name !== 'AllAlpha' && row.name !== 'AllBeta').map(
    ({ name }) => name,
  );

test('the gates are those of the contract, with their stages, defaults and locks', (t) => {
  t.deepEqual(
    rows.map((row) => {
      const { default: standard, stage, locked = false } = row;
      return { name: spellGate(row.name, DIALECTS.orch), default: standard, stage, locked } as never;
    }),
    facts.map(({ name, default: standard, stage, locked }) => ({ name, default: standard, stage, locked }) as never),
  );
});

test('a blank text leaves every gate at its default', (t) => {
  const gates = parseFeatureGates('');
  for (const row of FEATURE_GATE_TABLE) t.is(gates.enabled(row.name), row.default, row.name);
  t.deepEqual(gates.warnings, []);
});

for (const text of ['SuspendJob=true', ' SuspendJob = T ,', 'SuspendJob=1', 'SuspendJob=false,SuspendJob=True']) {
  test(`${JSON.stringify(text)} switches one gate on and no other`, (t) => {
    const gates = parseFeatureGates(text);
    t.deepEqual(
      FEATURE_GATE_TABLE.filter((row) => gates.enabled(row.name) !== row.default).map(({ name }) => name),
      ['SuspendJob'],
    );
  });
}

test('AllAlpha switches every alpha gate on but those that are named, before or after it', (t) => {
  for (const text of ['AllAlpha=true,SuspendJob=false', 'SuspendJob=false,AllAlpha=true']) {
    const gates = parseFeatureGates(text);
    const off = namesOf('Alpha').filter((name) => !gates.enabled(name));
    t.deepEqual(off, ['SuspendJob']);
    t.true(gates.enabled('AllAlpha'));
    t.false(gates.enabled('AllBeta'));
    t.false(gates.enabled('CSIMigrationAWS'));
  }
});

test('AllBeta switches every beta gate on or off but those that are named', (t) => {
  const off = parseFeatureGates('AllBeta=false,ServerSideApply=true');
  t.deepEqual(
    namesOf('Beta').filter((name) => off.enabled(name)),
    ['RemoveSelfLink', 'ServerSideApply'],
  );
  t.true(namesOf('Beta').every((name) => parseFeatureGates('AllBeta=true').enabled(name)));
  t.true(off.enabled('NodeLease'));
});

const refused: readonly (readonly [text: string, message: RegExp])[] = [
  ['Nope=true', /no feature gate is called "Nope"$/],
  ['__proto__=true', /no feature gate is called/],
  ['suspendjob=true', /no feature gate is called "suspendjob" \(did you mean SuspendJob\?\)$/],
  // As Kubernetes spells it, where the dialect has a word of its own.
  ['RotateKubeletServerCertificate=true', /\(did you mean RotateOrchletServerCertificate\?\)$/],
  ['SuspendJob', /feature gate SuspendJob has no value/],
  ['SuspendJob=', /must be true or false, not ""/],
  ['SuspendJob=yes', /must be true or false, not "yes"/],
  ['SuspendJob=true=true', /must be true or false/],
  ['NodeLease=false', /cannot be set to false: it is locked to true/],
  // Stable, and nothing depends on it: the feature would stay on.
  ['DryRun=false', /feature gate DryRun cannot be set to false: it is locked to true/],
  ['AdvancedAuditing=false', /cannot be set to false/],
  // Nothing would set selfLink.
  ['RemoveSelfLink=false', /^feature gate RemoveSelfLink cannot be set to false: answers are the bytes .* selfLink/],
  ['LegacyNodeRoleBehavior=true', /cannot be set to true: it is locked to false/],
  ['x'.repeat(100_000), /too long/],
];

for (const [text, message] of refused) {
  test(`${JSON.stringify(text.slice(0, 40))} is refused`, (t) => {
    t.throws(() => parseFeatureGates(text), { instanceOf: UsageError, message });
  });
}

test('setting a stable or deprecated gate, or one that nothing depends on, warns in one line', (t) => {
  t.deepEqual(parseFeatureGates('NodeLease=true,VolumeSubpath=false,StreamingProxyRedirects=false').warnings, [
    'feature gate NodeLease=true will be refused in a later release: its feature is stable; nothing in this release depends on it',
    'feature gate VolumeSubpath=false will be refused in a later release: its feature is stable',
    'feature gate StreamingProxyRedirects=false will be refused in a later release: it is deprecated',
  ]);
  t.deepEqual(parseFeatureGates('CPUManager=true,SuspendJob=true,WinDSR=false').warnings, [
    'feature gate CPUManager=true is not in force: nothing in this release depends on it',
    'feature gate WinDSR=false is not in force: nothing in this release depends on it',
  ]);
});

test('a stage that is switched off leaves a gate on that cannot be off, and says so unless that gate is named', (t) => {
  const off = parseFeatureGates('AllBeta=false');
  t.true(off.enabled('RemoveSelfLink'));
  t.is(off.warnings.length, 1);
  t.regex(off.warnings[0]!, /^feature gate RemoveSelfLink stays true: answers are the bytes/);
  t.deepEqual(parseFeatureGates('RemoveSelfLink=true,AllBeta=false').warnings, []);
  t.deepEqual(parseFeatureGates('AllBeta=true').warnings, []);
});

/** How code asks whether a gate is open, or names the one a row of a table hangs on. */
const QUESTION = /(?:\b(?:gate|gated|enabled|features|featureGate|gates)\b[(:]\s*|featureGate: )'([A-Z@][\w@]+)'/g;

test('a gate has an effect exactly when code asks about it', (t) => {
  const sources = ['api', 'actors', 'rendering', 'transport', 'runtime', 'storage', 'bin'].flatMap(sourceFiles);
  const asked = new Set(sources.flatMap(({ code }) => [...code.matchAll(QUESTION)].map(([, name]) => name!)));
  t.true(asked.size > 20);
  const stageGates = ['AllAlpha', 'AllBeta'];
  t.deepEqual(
    rows
      .filter(({ effect }) => effect !== undefined)
      .map(({ name }) => name)
      .filter((name) => !stageGates.includes(name)),
    rows.map(({ name }) => name).filter((name) => asked.has(name)),
  );
});

test('a gate that names the node agent is spelled by the dialect', (t) => {
  for (const dialect of Object.values(DIALECTS)) {
    const name = spellGate('Dynamic@AgentConfig', dialect);
    t.false(parseFeatureGates(`${name}=false`, dialect).enabled('Dynamic@AgentConfig'));
  }
  t.throws(() => parseFeatureGates(`${spellGate('Dynamic@AgentConfig', DIALECTS.kubernetes)}=false`, DIALECTS.orch));
});
