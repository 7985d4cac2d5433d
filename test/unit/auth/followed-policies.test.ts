// What of the cluster lets users in and gives them rights, for as long as it is there: roles, bindings, bootstrap tokens.
import test from 'ava';
import { BootstrapTokens } from '../../../actors/auth/authenticators/bootstrap-tokens.ts';
import { RbacAuthorizer } from '../../../actors/auth/authorizers/rbac.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { access, user } from '../api/authorization/access.ts';

const RBAC = 'rbac.authorization.orch.io';

interface Told {
  readonly type?: FeedEvent['type'];
  readonly storageKey: string;
  readonly namespace: string;
  readonly name: string;
  readonly object?: object;
}

function event({ type = 'put', object = {}, ...of }: Told): FeedEvent {
  return { type, ...of, object: () => object } as unknown as FeedEvent;
}

const role = (kind: 'Role' | 'ClusterRole', namespace: string): Told => ({
  storageKey: `${RBAC}/${kind.toLowerCase()}s`,
  namespace,
  name: 'reader',
  object: { metadata: { name: 'reader' }, rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] },
});

const binding = (kind: 'Role' | 'ClusterRole', namespace: string): Told => ({
  storageKey: `${RBAC}/${namespace === '' ? 'clusterrolebindings' : 'rolebindings'}`,
  namespace,
  name: 'readers',
  object: {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: RBAC, kind, name: 'reader' },
    subjects: [{ kind: 'User', apiGroup: RBAC, name: 'ann' }],
  },
});

for (const [kind, namespace] of [
  ['Role', 'shop'],
  ['ClusterRole', 'shop'],
  ['ClusterRole', ''],
] as const) {
  test(`a ${kind} that is bound ${namespace === '' ? 'everywhere' : 'in a namespace'} counts until it, its binding or all that was known is gone`, (t) => {
    const rbac = new RbacAuthorizer(DIALECTS.orch);
    const of = role(kind, kind === 'Role' ? namespace : '');
    const bound = binding(kind, namespace);
    const may = (): boolean => rbac.decide(user('ann'), access({})).decision === 'allow';
    const tell = (): boolean => {
      for (const one of [of, bound]) rbac.onEvent(event(one));
      return may();
    };
    t.true(tell());
    for (const gone of [of, bound]) {
      rbac.onEvent(event({ ...gone, type: 'delete' }));
      t.false(may());
      t.true(tell());
    }
    rbac.reset();
    t.false(may());
  });
}

const encoded = (texts: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

const SECRET = {
  'token-id': 'aaaaaa',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};
const TOKEN: Told = {
  storageKey: 'core/secrets',
  namespace: 'orch-system',
  name: 'bootstrap-token-aaaaaa',
  object: { type: 'bootstrap.orch.io/token', data: encoded(SECRET) },
};

/** Secrets that are not quite the token's. */
const OTHERS: readonly (readonly [what: string, changes: Partial<Told>])[] = [
  ['in another namespace', { namespace: 'shop' }],
  ['with another name', { name: 'otherwise-token-aaaaaa' }],
  ['with the name of another token', { name: 'bootstrap-token-bbbbbb' }],
  ['of another type', { object: { type: 'Opaque', data: encoded(SECRET) } }],
  [
    'without its second part',
    { object: { type: 'bootstrap.orch.io/token', data: encoded({ ...SECRET, 'token-secret': '' }) } },
  ],
  [
    'that is for signing alone',
    {
      object: {
        type: 'bootstrap.orch.io/token',
        data: encoded({ ...SECRET, 'usage-bootstrap-authentication': 'false' }),
      },
    },
  ],
  ['that is gone', { type: 'delete' }],
];

test('a bootstrap token is a secret of its type and name in the namespace of the system, while it is there', (t) => {
  const tokens = new BootstrapTokens(DIALECTS.orch, { nowMs: () => 0, monotonicMs: () => 0 }, { requireWhole() {} });
  const isGood = (): boolean => ['aaaaaa', 'bbbbbb'].some((id) => tokens.owner(`${id}.0123456789abcdef`) !== undefined);
  for (const [what, changes] of OTHERS) {
    tokens.onEvent(event(TOKEN));
    t.true(isGood());
    tokens.reset();
    t.false(isGood(), 'what was known is forgotten');
    tokens.onEvent(event({ ...TOKEN, ...changes }));
    t.false(isGood(), what);
  }
  tokens.onEvent(event(TOKEN));
  tokens.onEvent(event({ ...TOKEN, type: 'delete' }));
  t.false(isGood());
});
