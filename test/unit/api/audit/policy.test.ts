// Goal: a request goes by the rule that Kubernetes 1.21 would take. Method: a table of rules and requests, each with whether the one is
// about the other, read through the policy file as a server does; and how the rules of one file follow each other.
import test from 'ava';
import { auditDecision } from '../../../../api/audit/policy.ts';
import type { AccessAttributes, User } from '../../../../api/authorization/attributes.ts';
import { type AuditPolicy, readAuditPolicy } from '../../../../config/audit-policy.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

function policy(rules: readonly object[], more: object = {}): AuditPolicy {
  return readAuditPolicy({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules, ...more }, DIALECTS.orch);
}

const TIM: User = { name: 'tim', uid: '1', groups: ['humans', 'system:authenticated'], extra: {} };
const ANN: User = { name: 'ann', uid: '', groups: [], extra: {} };

function resource(path: string, verb = 'get'): AccessAttributes {
  const [group = '', namespace = '', type = '', name = ''] = path.split(':');
  const [plural = '', subresource = ''] = type.split('/');
  return {
    verb,
    isResource: true,
    group,
    version: 'v1',
    resource: plural,
    subresource,
    namespace,
    name,
    path: `/apis/${path}`,
  };
}

function path(text: string, verb = 'get'): AccessAttributes {
  return { ...resource(':::', verb), isResource: false, resource: '', path: text };
}

/** Requests by the names that the table calls them by. */
const REQUESTS: Readonly<Record<string, readonly [user: User | null, access: AccessAttributes]>> = {
  'get pod': [TIM, resource(':default:pods:busybox')],
  'list pods': [TIM, resource(':default:pods', 'list')],
  'list all pods': [TIM, resource('::pods', 'list')],
  'delete pod': [TIM, resource(':default:pods:busybox', 'delete')],
  'get other pod': [TIM, resource(':other:pods:busybox')],
  'get pod log': [TIM, resource(':default:pods/log:busybox')],
  'get pod status': [TIM, resource(':default:pods/status:busybox')],
  'get node': [TIM, resource('::nodes:n1')],
  'get node status': [TIM, resource('::nodes/status:n1')],
  'get deployment': [TIM, resource('apps:default:deployments:d')],
  'scale deployment': [TIM, resource('apps:default:deployments/scale:d', 'update')],
  'ann gets pod': [ANN, resource(':default:pods:busybox')],
  'somebody gets pod': [null, resource(':default:pods:busybox')],
  'get /version': [TIM, path('/version')],
  'get /healthz': [TIM, path('/healthz')],
  'get /healthz/ping': [TIM, path('/healthz/ping')],
  'post /logs': [TIM, path('/logs', 'post')],
  'somebody gets /version': [null, path('/version')],
};

const PODS = { group: '', resources: ['pods'] };

/** What a rule says beside its level, and the requests that it is about; it is about none of the others. */
const RULES: readonly (readonly [rule: object, about: readonly string[]])[] = [
  [{}, Object.keys(REQUESTS)],
  [{ users: ['ann'] }, ['ann gets pod']],
  [{ users: ['ann', 'bob'], verbs: ['get'] }, ['ann gets pod']],
  [{ users: ['nobody'] }, []],
  [{ users: ['ann'], userGroups: ['humans'] }, []],
  [{ userGroups: ['humans', 'ops'], nonResourceURLs: ['/version'] }, ['get /version']],
  [{ verbs: ['delete'] }, ['delete pod']],
  [{ verbs: ['list', 'update'] }, ['list pods', 'list all pods', 'scale deployment']],
  [{ verbs: ['*'] }, []],
  [{ verbs: ['post'] }, ['post /logs']],
  [{ namespaces: ['other'] }, ['get other pod']],
  [{ namespaces: [''] }, ['list all pods', 'get node', 'get node status']],
  [{ namespaces: ['other', ''], verbs: ['get'] }, ['get other pod', 'get node', 'get node status']],
  [{ namespaces: ['default'], resources: [{ group: 'apps' }] }, ['get deployment', 'scale deployment']],
  [{ resources: [{ group: 'apps' }] }, ['get deployment', 'scale deployment']],
  [{ resources: [{ group: 'apps', resources: ['deployments'] }] }, ['get deployment']],
  [{ resources: [{ group: 'apps', resources: ['deployments/*'] }] }, ['get deployment', 'scale deployment']],
  [{ resources: [{ group: 'apps', resources: ['*/scale'] }] }, ['scale deployment']],
  [{ resources: [{ group: 'apps', resources: ['deployments/scale'] }] }, ['scale deployment']],
  [{ resources: [{ group: 'apps', resources: ['*'] }] }, ['get deployment', 'scale deployment']],
  [{ resources: [{ group: 'apps', resources: ['pods'] }] }, []],
  [{ resources: [{ group: 'apps.example.com' }] }, []],
  [{ resources: [{ resources: ['nodes'] }] }, ['get node']],
  [{ resources: [{ group: '', resources: ['*/status'] }] }, ['get pod status', 'get node status']],
  [{ resources: [{ group: '', resources: ['pods/log', 'nodes/status'] }] }, ['get pod log', 'get node status']],
  [{ resources: [{ group: '', resources: ['pods/*'], resourceNames: ['other'] }] }, []],
  [
    { resources: [{ group: '', resources: ['nodes/*'], resourceNames: ['n1', 'n2'] }] },
    ['get node', 'get node status'],
  ],
  [
    { resources: [{ ...PODS, resourceNames: ['busybox'] }], namespaces: ['default'] },
    ['get pod', 'delete pod', 'ann gets pod', 'somebody gets pod'],
  ],
  [{ resources: [{ ...PODS, resourceNames: [''] }] }, ['list pods', 'list all pods']],
  [{ resources: [PODS], verbs: ['list'] }, ['list pods', 'list all pods']],
  [
    { resources: [{ group: 'apps' }, { group: '', resources: ['nodes'] }], verbs: ['get'] },
    ['get deployment', 'get node'],
  ],
  [{ nonResourceURLs: ['/version'] }, ['get /version', 'somebody gets /version']],
  [{ nonResourceURLs: ['/healthz*'] }, ['get /healthz', 'get /healthz/ping']],
  [{ nonResourceURLs: ['/healthz/*'] }, ['get /healthz/ping']],
  [{ nonResourceURLs: ['/healthz'] }, ['get /healthz']],
  [
    { nonResourceURLs: ['*'] },
    ['get /version', 'get /healthz', 'get /healthz/ping', 'post /logs', 'somebody gets /version'],
  ],
  [{ nonResourceURLs: ['/*'], users: ['tim'] }, ['get /version', 'get /healthz', 'get /healthz/ping', 'post /logs']],
  [{ nonResourceURLs: ['/apis*'] }, []],
];

for (const [rule, about] of RULES) {
  test(`a rule of ${JSON.stringify(rule)} is about ${about.length} requests`, (t) => {
    const only = policy([{ level: 'Request', ...rule }]);
    for (const [name, [user, access]] of Object.entries(REQUESTS)) {
      const { level } = auditDecision(only, user, access);
      t.is(level, about.includes(name) ? 'Request' : 'None', name);
    }
  });
}

test('the first rule that is about a request decides, and what it leaves out is left out', (t) => {
  const both = policy(
    [
      { level: 'None', users: ['ann'] },
      { level: 'RequestResponse', resources: [PODS], omitStages: ['ResponseComplete', 'RequestReceived'] },
      { level: 'Metadata' },
    ],
    { omitStages: ['RequestReceived'] },
  );
  t.is(auditDecision(both, ANN, resource(':default:pods:p')).level, 'None');
  t.like(auditDecision(both, TIM, resource(':default:pods:p')), {
    level: 'RequestResponse',
    omitStages: ['RequestReceived', 'ResponseComplete'],
  });
  t.like(auditDecision(both, TIM, path('/x')), { level: 'Metadata', omitStages: ['RequestReceived'] });
});

for (const version of ['v1', 'v1beta1', 'v1alpha1'])
  for (const dialect of Object.values(DIALECTS))
    test(`a policy of ${version} is read in the dialect ${dialect.name}`, (t) => {
      const apiVersion = `${dialect.spell('audit.@group')}/${version}`;
      const content = { apiVersion, kind: 'Policy', metadata: { name: 'any' }, rules: [{ level: 'Metadata' }] };
      t.is(readAuditPolicy(content, dialect).rules.length, 1);
    });

/** A rule, or more of the file, and what is said of it. */
const BAD: readonly (readonly [content: object, problem: string])[] = [
  [
    { apiVersion: 'audit.orch.io/v2' },
    'apiVersion: must be audit.orch.io/v1 or audit.orch.io/v1beta1 or audit.orch.io/v1alpha1, not "audit.orch.io/v2"',
  ],
  [
    { apiVersion: 'audit.k8s.io/v1' },
    'apiVersion: must be audit.orch.io/v1 or audit.orch.io/v1beta1 or audit.orch.io/v1alpha1, not "audit.k8s.io/v1"',
  ],
  [{ kind: 'Event' }, 'kind: must be Policy, not "Event"'],
  [{ rules: [] }, 'rules: must not be empty'],
  [{ rules: null }, 'rules: is required'],
  [{ rules: {} }, 'rules: must be a list'],
  [{ rules: ['Metadata'] }, 'rules[0]: must be an object'],
  [{ metadata: 'name' }, 'metadata: must be an object'],
  [{ rule: [] }, 'rule: is an unknown field'],
  [
    { omitStages: ['Never'] },
    'omitStages[0]: allowed stages are RequestReceived, ResponseStarted, ResponseComplete, Panic',
  ],
  [{ omitStages: 'Panic' }, 'omitStages: must be a list'],
  [{ rules: [{}] }, 'rules[0].level: is required'],
  [{ rules: [{ level: '' }] }, 'rules[0].level: is required'],
  [{ rules: [{ level: 'metadata' }] }, 'rules[0].level: must be one of None, Metadata, Request, RequestResponse'],
  [{ rules: [{ level: 3 }] }, 'rules[0].level: must be one of None, Metadata, Request, RequestResponse'],
  [{ rules: [{ level: 'None' }, { level: 'None', user: ['a'] }] }, 'rules[1].user: is an unknown field'],
  [{ rules: [{ level: 'None', users: 'ann' }] }, 'rules[0].users: must be a list'],
  [{ rules: [{ level: 'None', users: [7] }] }, 'rules[0].users[0]: must be a text'],
  [{ rules: [{ level: 'None', userGroups: [null] }] }, 'rules[0].userGroups[0]: must be a text'],
  [{ rules: [{ level: 'None', verbs: {} }] }, 'rules[0].verbs: must be a list'],
  [{ rules: [{ level: 'None', namespaces: [['a']] }] }, 'rules[0].namespaces[0]: must be a text'],
  [{ rules: [{ level: 'None', resources: ['pods'] }] }, 'rules[0].resources[0]: must be an object'],
  [{ rules: [{ level: 'None', resources: [{ names: ['a'] }] }] }, 'rules[0].resources[0].names: is an unknown field'],
  [
    { rules: [{ level: 'None', resources: [{ group: 'apps/v1' }] }] },
    'rules[0].resources[0].group: must be the name of an API group, without a version',
  ],
  [
    { rules: [{ level: 'None', resources: [{ group: 'Apps' }] }] },
    'rules[0].resources[0].group: must be the name of an API group, without a version',
  ],
  [
    { rules: [{ level: 'None', resources: [{ group: 7 }] }] },
    'rules[0].resources[0].group: must be the name of an API group, without a version',
  ],
  [
    { rules: [{ level: 'None', resources: [{ resourceNames: ['a'] }] }] },
    'rules[0].resources[0].resourceNames: using resourceNames requires at least one resource',
  ],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['version'] }] },
    "rules[0].nonResourceURLs[0]: non-resource URL rules must begin with a '/' character",
  ],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['/a', ''] }] },
    "rules[0].nonResourceURLs[1]: non-resource URL rules must begin with a '/' character",
  ],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['/a*b'] }] },
    "rules[0].nonResourceURLs[0]: non-resource URL wildcards '*' must be the final character of the rule",
  ],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['/**'] }] },
    "rules[0].nonResourceURLs[0]: non-resource URL wildcards '*' must be the final character of the rule",
  ],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['/a'], resources: [{}] }] },
    'rules[0].nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs',
  ],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['a'] }] },
    'rules[0].nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs',
  ],
  [
    { rules: [{ level: 'None', omitStages: ['Panic', 'Later'] }] },
    'rules[0].omitStages[1]: allowed stages are RequestReceived, ResponseStarted, ResponseComplete, Panic',
  ],
];

for (const [index, [content, problem]] of BAD.entries())
  test(`bad policy ${index + 1} is refused: ${problem}`, (t) => {
    t.throws(() => policy([{ level: 'None' }], content), { message: problem });
  });

for (const [content, shown] of [
  ['text', 'a text'],
  [[], 'a list'],
  [null, 'nothing'],
] as const)
  test(`${shown} is no policy`, (t) => {
    t.throws(() => readAuditPolicy(content, DIALECTS.orch), { message: 'the file must hold an audit Policy' });
  });
