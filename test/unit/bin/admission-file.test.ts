// The file of --admission-control-config-file: what is read from it, and what it is refused for, always in one line that says
// where the mistake is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readAdmissionFile } from '../../../bin/files/admission-file.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-admission-'));
test.after.always(() => rmSync(folder, { recursive: true }));

let files = 0;

/** Reads a text as the file, beside which are others. */
function read(text: string, others: Readonly<Record<string, string>> = {}, dialect: 'orch' | 'kubernetes' = 'orch') {
  const file = join(folder, `admission-${files++}.yaml`);
  writeFileSync(file, text);
  for (const [name, content] of Object.entries(others)) writeFileSync(join(folder, name), content);
  return readAdmissionFile(file, DIALECTS[dialect]);
}

const V1 = 'apiVersion: apiserver.config.orch.io/v1\nkind: AdmissionConfiguration\n';

const harmless: readonly [string, string][] = [
  ['v1 without plugins', V1],
  ['v1beta1', 'apiVersion: apiserver.orch.io/v1beta1\nkind: AdmissionConfiguration\nplugins: []\n'],
  ['v1alpha1 in JSON', '{"apiVersion":"apiserver.orch.io/v1alpha1","kind":"AdmissionConfiguration","plugins":null}'],
  ['a plugin that is named only', `${V1}plugins:\n- name: AlwaysAdmit\n  path: ""\n  configuration: null\n`],
];

for (const [says, text] of harmless) {
  test(`${says} says nothing of any plugin`, (t) => {
    t.deepEqual(read(text), {});
  });
}

test('the other dialect has its own group', (t) => {
  const text = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n';
  t.deepEqual(read(text, {}, 'kubernetes'), {});
  t.throws(() => read(text), { message: /apiVersion: must be apiserver.config.orch.io\/v1 or .*, not "apiserver/ });
});

const SELECTORS = { PodNodeSelector: { standard: { zone: 'a' }, allowed: { one: { disk: 'ssd', zone: 'a' } } } };
const SELECTOR_TEXT = `podNodeSelectorPluginConfig:
  clusterDefaultNodeSelector: zone=a
  one: disk=ssd, zone=a
`;

test('the settings of plugins are read from the file itself and from files beside it', (t) => {
  const indented = SELECTOR_TEXT.replace(/^/gm, '    ');
  t.deepEqual(read(`${V1}plugins:\n- name: PodNodeSelector\n  configuration:\n${indented}`), SELECTORS);
  const named = `${V1}plugins:\n- name: PodNodeSelector\n  path: selectors.yaml\n`;
  t.deepEqual(read(named, { 'selectors.yaml': SELECTOR_TEXT }), SELECTORS);
});

test('a file of old, which is the settings of one plugin, is still read', (t) => {
  t.deepEqual(read(SELECTOR_TEXT), SELECTORS);
});

test('a mistake in a file that the file names is told with that file and the place in it', (t) => {
  const named = `${V1}plugins:\n- name: PodNodeSelector\n  path: wrong.yaml\n`;
  t.throws(() => read(named, { 'wrong.yaml': 'podNodeSelectorPluginConfig:\n  a: b\n' }), {
    message: /wrong.yaml: podNodeSelectorPluginConfig.a: invalid selector: \[b\]$/,
  });
});

const refused: readonly [says: string, text: string, line: RegExp][] = [
  ['no object', '- a\n', /: the file must hold an AdmissionConfiguration$/],
  [
    'another kind',
    'apiVersion: apiserver.config.orch.io/v1\nkind: Pod\n',
    /: kind: must be AdmissionConfiguration, not "Pod"$/,
  ],
  ['no version', 'kind: AdmissionConfiguration\n', /: apiVersion: must be apiserver.config.orch.io\/v1 or /],
  ['an unknown field', `${V1}plugin: []\n`, /: plugin: is an unknown field$/],
  ['plugins that are no list', `${V1}plugins: {}\n`, /: plugins: must be a list$/],
  ['an unknown plugin', `${V1}plugins:\n- name: Nope\n`, /: plugins\[0\].name: no admission plugin is called "Nope"$/],
  ['a plugin without a name', `${V1}plugins:\n- path: a\n`, /: plugins\[0\].name: no admission plugin is called ""$/],
  [
    'a plugin named twice',
    `${V1}plugins:\n- name: AlwaysDeny\n- name: AlwaysDeny\n`,
    /: plugins\[1\].name: AlwaysDeny is named twice$/,
  ],
  [
    'an unknown member of a plugin',
    `${V1}plugins:\n- name: AlwaysDeny\n  file: x\n`,
    /: plugins\[0\].file: is an unknown field$/,
  ],
  [
    'settings of a plugin that has none',
    `${V1}plugins:\n- name: AlwaysDeny\n  configuration: {}\n`,
    /: plugins\[0\].configuration: AlwaysDeny takes no configuration$/,
  ],
  [
    'a file that is not there',
    `${V1}plugins:\n- name: AlwaysDeny\n  path: nowhere.yaml\n`,
    /nowhere.yaml cannot be read \(ENOENT\)$/,
  ],
  ['text that is not YAML', 'a: [\n', /^the admission configuration [^\n]+$/],
];

for (const [says, text, line] of refused) {
  test(`${says} is refused in one line`, (t) => {
    const { message } = t.throws(() => read(text), { message: line })!;
    t.notRegex(message, /\n/);
  });
}
