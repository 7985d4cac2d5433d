// PodTolerationRestriction, case by case, and the files it takes its settings from.
import test from 'ava';
import { readTolerationSettings } from '../../../../actors/admission/plugins/pod-toleration-restriction/configuration.ts';
import { podTolerationRestriction } from '../../../../actors/admission/plugins/pod-toleration-restriction/pod-toleration-restriction.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { NO_FILES } from './no-files.ts';
import { type PluginCase, PODS, type Present, podOf, testPlugin } from './plugin-cases.ts';

const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const tolerating = (key: string, more: object = {}) => ({ key, operator: 'Exists', effect: 'NoSchedule', ...more });
const namespace = (name: string, annotations: Readonly<Record<string, string>>): Present => [
  '/api/v1/namespaces',
  {
    metadata: {
      name,
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`scheduler.alpha.orch.io/${key}`, value]),
      ),
    },
  },
];
const CONFLICT =
  'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist';
const LIMITED = { resources: { limits: { cpu: '1' } } };
const PRESSURE = tolerating('node.orch.io/memory-pressure');

const cases: readonly PluginCase[] = [
  {
    what: 'a pod where the namespace says nothing',
    path: PODS,
    body: podOf(),
    becomes: { spec: { tolerations: [tolerating('standard')] } },
  },
  {
    what: 'a pod that has some of its own',
    path: PODS,
    body: podOf({ tolerations: [tolerating('own')] }),
    becomes: { spec: { tolerations: [tolerating('own'), tolerating('standard')] } },
  },
  {
    what: 'a pod that tolerates what it gets already',
    path: PODS,
    body: podOf({ tolerations: [{ operator: 'Exists' }] }),
    becomes: { spec: { tolerations: [{ operator: 'Exists' }] } },
  },
  {
    what: 'a pod of a namespace with tolerations',
    path: pods('own'),
    body: podOf(),
    becomes: { spec: { tolerations: [tolerating('team')] } },
  },
  {
    what: 'a pod of a namespace that wants none',
    path: pods('none'),
    body: podOf(),
    becomes: { spec: { tolerations: undefined } },
  },
  {
    what: 'a pod that asks for something to run with',
    path: pods('none'),
    body: podOf({}, LIMITED),
    becomes: { spec: { tolerations: [PRESSURE] } },
  },
  {
    what: 'a pod with what the namespace allows',
    path: pods('listed'),
    body: podOf({ tolerations: [tolerating('team')] }),
    becomes: { spec: { tolerations: [tolerating('team')] } },
  },
  {
    what: 'a pod with more than the namespace allows',
    path: pods('listed'),
    body: podOf({ tolerations: [tolerating('other')] }),
    code: 500,
    refused: CONFLICT,
  },
  {
    what: 'a pod with another effect than the namespace allows',
    path: pods('listed'),
    body: podOf({ tolerations: [tolerating('team', { effect: 'NoExecute' })] }),
    code: 500,
    refused: CONFLICT,
  },
  {
    what: 'a pod with a value of a key that is allowed',
    path: pods('listed'),
    body: podOf({ tolerations: [tolerating('team', { operator: 'Equal', value: 'x' })] }),
  },
  {
    what: 'a pod that stays as long as it may',
    path: pods('brief'),
    body: podOf({ tolerations: [tolerating('a', { effect: 'NoExecute', tolerationSeconds: 10 })] }),
  },
  {
    what: 'a pod that stays longer',
    path: pods('brief'),
    body: podOf({ tolerations: [tolerating('a', { effect: 'NoExecute', tolerationSeconds: 11 })] }),
    code: 500,
    refused: CONFLICT,
  },
  {
    what: 'a pod that stays for ever',
    path: pods('brief'),
    body: podOf({ tolerations: [tolerating('a', { effect: 'NoExecute' })] }),
    code: 500,
    refused: CONFLICT,
  },
  {
    what: 'a dry run',
    path: pods('listed'),
    body: podOf({ tolerations: [tolerating('other')] }),
    request: { parameters: { dryRun: ['All'] } },
    code: 500,
    refused: CONFLICT,
  },
  {
    what: 'an update with more than the namespace allows',
    present: [[pods('listed'), podOf()]],
    verb: 'patch',
    path: `${pods('listed')}/it`,
    body: { spec: { tolerations: [tolerating('other')] } },
    code: 500,
    refused: CONFLICT,
  },
  {
    what: 'a pod of a namespace whose annotation has a field that nobody knows',
    path: pods('newer'),
    body: podOf(),
    becomes: { spec: { tolerations: [tolerating('team')] } },
  },
  {
    what: 'a pod of a namespace whose annotation is not JSON',
    path: pods('wrong'),
    body: podOf(),
    code: 500,
    refused: 'the tolerations of the namespace are not JSON',
  },
  {
    what: 'a pod of a namespace that gives it what no pod can have',
    path: pods('odd'),
    body: podOf(),
    code: 422,
    refused:
      'Pod "it" is invalid: spec.tolerations[0].effect: Unsupported value: "Nothing": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  },
  {
    what: 'a pod of a namespace that allows what no pod can have, beside what this one has',
    path: pods('open'),
    body: podOf({ tolerations: [tolerating('team')] }),
    becomes: { spec: { tolerations: [tolerating('team')] } },
  },
];

testPlugin(
  'PodTolerationRestriction',
  {
    plugins: [podTolerationRestriction],
    configurations: { PodTolerationRestriction: { standard: [tolerating('standard')], allowed: [] } },
    present: [
      namespace('own', { defaultTolerations: JSON.stringify([tolerating('team')]) }),
      namespace('none', { defaultTolerations: '' }),
      namespace('listed', { defaultTolerations: '[]', tolerationsWhitelist: JSON.stringify([tolerating('team')]) }),
      namespace('brief', {
        defaultTolerations: '',
        tolerationsWhitelist: JSON.stringify([tolerating('a', { effect: 'NoExecute', tolerationSeconds: 10 })]),
      }),
      namespace('newer', {
        defaultTolerations: JSON.stringify([{ ...tolerating('team'), since: 1 }]),
        tolerationsWhitelist: '',
      }),
      namespace('wrong', { defaultTolerations: '[' }),
      namespace('odd', { defaultTolerations: JSON.stringify([tolerating('a', { effect: 'Nothing' })]) }),
      namespace('open', {
        defaultTolerations: '',
        tolerationsWhitelist: JSON.stringify([
          ...[tolerating('a', { effect: 'Nothing' }), tolerating('a', { operator: 'In' })],
          tolerating('team'),
        ]),
      }),
    ],
  },
  cases,
);

testPlugin(
  'PodTolerationRestriction with a list for all',
  {
    plugins: [podTolerationRestriction],
    configurations: { PodTolerationRestriction: { standard: [], allowed: [tolerating('team')] } },
    present: [namespace('listed', { tolerationsWhitelist: JSON.stringify([tolerating('other')]) })],
  },
  [
    {
      what: 'a pod with more than all may have',
      path: PODS,
      body: podOf({ tolerations: [tolerating('other')] }),
      code: 500,
      refused: CONFLICT.replace('namespace whitelist', 'cluster whitelist'),
    },
    {
      what: 'a pod of a namespace with a list of its own',
      path: pods('listed'),
      body: podOf({ tolerations: [tolerating('other')] }),
    },
  ],
);

const read = (content: unknown) => readTolerationSettings({ content, dialect: DIALECTS.orch, ...NO_FILES });
const HEAD = { apiVersion: 'podtolerationrestriction.admission.orch.io/v1alpha1', kind: 'Configuration' };

test('PodTolerationRestriction: its settings are read', (t) => {
  const timed = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  t.deepEqual(read({ ...HEAD, default: [timed], whitelist: null }), { standard: [timed], allowed: [] });
});

const refused: readonly [content: object, message: string][] = [
  [{ kind: 'Configuration' }, 'apiVersion: must be podtolerationrestriction.admission.orch.io/v1alpha1'],
  [{ ...HEAD, defaults: [] }, 'defaults: is an unknown field'],
  [{ ...HEAD, default: [{ key: 5 }] }, 'default[0].key: must be a text'],
  [{ ...HEAD, whitelist: [{ operator: 'In' }] }, 'whitelist[0].operator: must be one of Exists, Equal'],
  [{ ...HEAD, whitelist: [{ tolerationSeconds: '5' }] }, 'whitelist[0].tolerationSeconds: must be a whole number'],
  // What no pod may have: every pod that was given it was refused.
  [
    { ...HEAD, default: [tolerating('a'), tolerating('b', { tolerationSeconds: 5 })] },
    'default[1].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
  ],
  [
    { ...HEAD, default: [tolerating('a', { value: 'b' })] },
    'default[0].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\'',
  ],
  [
    { ...HEAD, whitelist: [{ value: 'b' }] },
    'whitelist[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
  ],
];

for (const [content, message] of refused) {
  test(`PodTolerationRestriction: settings are refused with ${message}`, (t) => {
    t.throws(() => read(content), { message });
  });
}
