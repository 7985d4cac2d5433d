// Goal: an operator can read of every setting what it does in this release. Method: the table against the rows it is made of.
import test from 'ava';
import { ADMISSION_PLUGINS } from '../../../config/admission-plugins.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { effectSections, settingsText } from '../../../config/effect-table.ts';
import { FEATURE_GATE_TABLE } from '../../../config/options/feature-gate-table.ts';
import { OPTIONS } from '../../../config/options.ts';

test('the table has a row for every option, gate and plugin, each with a state and a text', (t) => {
  const [options, gates, plugins] = effectSections(DIALECTS.orch);
  t.is(options?.rows.length, OPTIONS.length);
  t.is(gates?.rows.length, FEATURE_GATE_TABLE.length);
  t.is(plugins?.rows.length, ADMISSION_PLUGINS.length);
  for (const { name, state, text } of [options, gates, plugins].flatMap((section) => section?.rows ?? [])) {
    t.true(['in force', 'refused', 'not in force'].includes(state), name);
    t.regex(text, /^[^\n@]{3,110}$/, name);
  }
});

test('defaults are shown as the dialect spells them, and by program where they differ', (t) => {
  for (const { name: dialect, short } of Object.values(DIALECTS)) {
    const standards = new Map(effectSections(DIALECTS[dialect])[0]!.rows.map(({ name, standard }) => [name, standard]));
    t.is(standards.get('--lock-object-namespace'), `${short}-system`);
    t.is(standards.get('--bind-address'), 'apiserver, scheduler: 0.0.0.0; up: 127.0.0.1');
  }
});

test('the text is a setting a line, aligned, with what it does when that is asked for', (t) => {
  const withEffects = settingsText(DIALECTS.orch, true).split('\n');
  const without = settingsText(DIALECTS.orch, false).split('\n');
  t.is(withEffects.length, without.length);
  t.is(withEffects.length, OPTIONS.length + FEATURE_GATE_TABLE.length + ADMISSION_PLUGINS.length + 3 + 2);
  const line = (name: string): string => withEffects.find((text) => text.trim().startsWith(name)) ?? '';
  t.regex(line('--secure-port '), /^ {2}--secure-port +6443 +in force +the port that is listened on$/);
  t.regex(line('--cloud-config '), / refused +no cloud is known here$/);
  t.regex(line('--lease-reuse-duration-seconds '), / 60 +in force +/);
  t.regex(line('--leader-elect '), / true +in force +whether others stand by$/);
  t.regex(line('DryRun '), / true +refused +it is locked to true$/);
  t.regex(line('SuspendJob '), / false +in force +suspend of a Job is kept and defaulted$/);
  t.regex(line('CPUManager '), / true +not in force +/);
  t.true(without.includes('Admission plugins:'));
  t.false(without.some((text) => text.includes('in force')));
});
