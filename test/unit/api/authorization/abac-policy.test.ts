// Policy files of attribute-based access control: who a line means, what it allows, and which lines are refused.
import test from 'ava';
import { AbacLineError, abacDecides, abacRules, parseAbacPolicy } from '../../../../api/authorization/abac-policy.ts';
import type { AccessAttributes } from '../../../../api/authorization/attributes.ts';
import { access, user } from './access.ts';

const GROUP = 'abac.authorization.orch.io';
const KNOWN = 'system:authenticated';

function line(spec: object): string {
  return JSON.stringify({ apiVersion: `${GROUP}/v1beta1`, kind: 'Policy', spec });
}

interface Row {
  readonly text: string;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly access?: Partial<AccessAttributes>;
  readonly allowed: boolean;
}

const ALL = { namespace: '*', resource: '*', apiGroup: '*', nonResourcePath: '*' };
const PATH = { isResource: false, path: '/logs/a' };

const ROWS: readonly Row[] = [
  { text: line({ user: 'ann', ...ALL }), allowed: true },
  { text: line({ user: 'bob', ...ALL }), allowed: false },
  { text: line({ user: 'ann', group: 'ops', ...ALL }), allowed: false },
  { text: line({ user: 'ann', group: 'ops', ...ALL }), groups: ['ops'], allowed: true },
  { text: line({ group: 'ops', ...ALL }), groups: ['ops'], allowed: true },
  { text: line({ user: '*', ...ALL }), groups: [KNOWN], allowed: true },
  { text: line({ user: '*', ...ALL }), user: 'system:anonymous', allowed: false },
  { text: line({ group: '*', ...ALL }), groups: [KNOWN], allowed: true },
  { text: line({ user: 'bob', group: '*', ...ALL }), groups: [KNOWN], allowed: true },
  { text: line({ user: '*', group: 'ops', ...ALL }), groups: [KNOWN], allowed: true },
  { text: line(ALL), groups: [KNOWN], allowed: false },
  { text: line({ user: 'ann', ...ALL, readonly: true }), allowed: true },
  { text: line({ user: 'ann', ...ALL, readonly: true }), access: { verb: 'create' }, allowed: false },
  { text: line({ user: 'ann', namespace: 'shop', resource: 'pods' }), allowed: true },
  { text: line({ user: 'ann', namespace: 'shop', resource: 'pods' }), access: { group: 'apps' }, allowed: false },
  { text: line({ user: 'ann', namespace: 'shop', resource: 'pods' }), access: { namespace: 'x' }, allowed: false },
  { text: line({ user: 'ann', namespace: '*', resource: 'secrets' }), allowed: false },
  { text: line({ user: 'ann', nonResourcePath: '/logs/*' }), access: PATH, allowed: true },
  { text: line({ user: 'ann', nonResourcePath: '/metrics' }), access: PATH, allowed: false },
  { text: line({ user: 'ann', namespace: '*', resource: '*', apiGroup: '*' }), access: PATH, allowed: false },
  { text: '{"user":"ann"}', allowed: true },
  { text: '{"user":"ann"}', access: PATH, allowed: true },
  { text: '{"user":"ann","resource":"pods"}', access: PATH, allowed: false },
  { text: '{"user":"ann","resource":"pods","namespace":"x"}', allowed: false },
  { text: '{"readonly":true}', groups: [KNOWN], allowed: true },
  { text: '{}', user: 'system:anonymous', allowed: false },
  { text: '{"group":"*"}', groups: [KNOWN], allowed: true },
  { text: '{"group":"*"}', user: 'system:anonymous', allowed: false },
  { text: '{"user":"bob","group":"*"}', groups: [KNOWN], allowed: true },
  { text: '# nothing\n\n', allowed: false },
];

ROWS.forEach(({ text, user: name = 'ann', groups = [], access: changes = {}, allowed }, index) => {
  test(`row ${index}: ${name} is ${allowed ? 'allowed' : 'refused'} ${JSON.stringify(changes)} by ${text}`, (t) => {
    const decision = abacDecides(parseAbacPolicy(text, GROUP), user(name, ...groups), access(changes));
    t.deepEqual(decision, allowed ? { allowed, reason: '' } : { allowed, reason: 'No policy matched.' });
  });
});

test('who asks what is allowed in a namespace is told the lines that mean him, as rules of roles', (t) => {
  const lines = [
    line({ user: 'ann', namespace: 'shop', resource: 'pods', readonly: true }),
    line({ user: 'ann', namespace: '*', resource: 'events', apiGroup: '*' }),
    line({ user: 'ann', namespace: 'elsewhere', resource: 'secrets' }),
    line({ user: 'ann', nonResourcePath: '/logs/*' }),
    line({ user: 'bob', ...ALL }),
  ];
  t.deepEqual(abacRules(parseAbacPolicy(lines.join('\n'), GROUP), user('ann'), 'shop'), [
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['*'], apiGroups: ['*'], resources: ['events'] },
    { verbs: ['*'], nonResourceURLs: ['/logs/*'] },
  ]);
});

const REFUSED: readonly (readonly [text: string, says: RegExp])[] = [
  ['{', /not a JSON object/],
  ['[]', /not a JSON object/],
  ['{"usr":"ann"}', /no field "usr"/],
  ['{"user":1}', /user must be a text/],
  ['{"readonly":"true"}', /readonly must be a boolean/],
  ['{"kind":"Policy","apiVersion":"x/v1","spec":{}}', /apiVersion must be/],
  [`{"kind":"Rule","apiVersion":"${GROUP}/v1beta1","spec":{}}`, /kind must be Policy/],
  [`{"kind":"Policy","apiVersion":"${GROUP}/v1beta1"}`, /spec must be an object/],
  [line({ user: 'ann', path: '/' }), /no field "path"/],
];

for (const [text, says] of REFUSED) {
  test(`a file is refused with the number of its bad line: ${text}`, (t) => {
    const error = t.throws(() => parseAbacPolicy(`{"user":"ann"}\n# c\n${text}\n`, GROUP), {
      instanceOf: AbacLineError,
    });
    t.is(error.line, 3);
    t.regex(error.message, says);
  });
}
