// Goal: gates are what the contract says, and a text changes exactly those it names. Method: against the contract's table.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { DIALECTS } from '../../../config/dialect.ts';
import { type FeatureGateName, parseFeatureGates, spellGate } from '../../../config/feature-gates.ts';
import { FEATURE_GATE_TABLE, type FeatureGateRow } from '../../../config/options/feature-gate-table.ts';
import { UsageError } from '../../../config/usage-error.ts';

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
    rows.map((row) => ({ ...row, name: spellGate(row.name, DIALECTS.orch), locked: row.locked === true })),
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
    ['ServerSideApply'],
  );
  t.true(namesOf('Beta').every((name) => parseFeatureGates('AllBeta=true').enabled(name)));
  t.true(off.enabled('NodeLease'));
});

const refused: readonly (readonly [text: string, message: RegExp])[] = [
  ['Nope=true', /no feature gate is called "Nope"/],
  ['__proto__=true', /no feature gate is called/],
  ['suspendjob=true', /no feature gate is called/],
  ['SuspendJob', /feature gate SuspendJob has no value/],
  ['SuspendJob=', /must be true or false, not ""/],
  ['SuspendJob=yes', /must be true or false, not "yes"/],
  ['SuspendJob=true=true', /must be true or false/],
  ['NodeLease=false', /cannot be set to false: it is locked to true/],
  ['LegacyNodeRoleBehavior=true', /cannot be set to true: it is locked to false/],
  ['x'.repeat(100_000), /too long/],
];

for (const [text, message] of refused) {
  test(`${JSON.stringify(text.slice(0, 40))} is refused`, (t) => {
    t.throws(() => parseFeatureGates(text), { instanceOf: UsageError, message });
  });
}

test('setting a stable or deprecated gate warns', (t) => {
  t.is(parseFeatureGates('NodeLease=true,StreamingProxyRedirects=false,SuspendJob=true').warnings.length, 2);
});

test('a gate that names the node agent is spelled by the dialect', (t) => {
  for (const dialect of Object.values(DIALECTS)) {
    const name = spellGate('Dynamic@AgentConfig', dialect);
    t.false(parseFeatureGates(`${name}=false`, dialect).enabled('Dynamic@AgentConfig'));
  }
  t.throws(() => parseFeatureGates(`${spellGate('Dynamic@AgentConfig', DIALECTS.kubernetes)}=false`, DIALECTS.orch));
});
