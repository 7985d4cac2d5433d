// Whom a request goes on as that asks to act as somebody else.
import test from 'ava';
import { impersonated, impersonationAccesses } from '../../../../api/authorization/impersonation.ts';

const groupsOf = (name: string, groups: readonly string[] = []): readonly string[] =>
  impersonated({ name, uid: '', groups, extra: {} }).groups;

const KNOWN = 'system:authenticated';
const UNKNOWN = 'system:unauthenticated';

test('who is acted as is in the group of those who are known, unless it is said that nobody knows them', (t) => {
  t.deepEqual(groupsOf('alice'), [KNOWN]);
  t.deepEqual(groupsOf('alice', ['g']), ['g', KNOWN]);
  t.deepEqual(groupsOf('alice', [KNOWN, 'g']), [KNOWN, 'g']);
  t.deepEqual(groupsOf('alice', [UNKNOWN]), [UNKNOWN]);
});

test('nobody in particular is always in the group of those who are not known', (t) => {
  t.deepEqual(groupsOf('system:anonymous'), [UNKNOWN]);
  t.deepEqual(groupsOf('system:anonymous', ['g']), ['g', UNKNOWN]);
  t.deepEqual(groupsOf('system:anonymous', [KNOWN]), [KNOWN, UNKNOWN]);
});

test('a service account that is acted as without groups is in those of its own', (t) => {
  t.deepEqual(groupsOf('system:serviceaccount:ns:a'), ['system:serviceaccounts', 'system:serviceaccounts:ns', KNOWN]);
  t.deepEqual(groupsOf('system:serviceaccount:ns:a', ['g']), ['g', KNOWN]);
});

test('what no service account can be called is a user', (t) => {
  const asked = (name: string) =>
    impersonationAccesses({ name, uid: '', groups: [], extra: {} }, 'authentication.orch.io')[0];
  t.like(asked('system:serviceaccount:ns:a.b'), { resource: 'serviceaccounts', namespace: 'ns', name: 'a.b' });
  for (const name of ['system:serviceaccount:Ns:a', 'system:serviceaccount:ns:A', 'system:serviceaccount:n.s:a']) {
    t.like(asked(name), { resource: 'users', namespace: '', name });
    t.deepEqual(groupsOf(name), [KNOWN]);
  }
});

test('only uids and extra fields of who is acted as are asked about in a version', (t) => {
  const user = { name: 'alice', uid: 'u', groups: ['g'], extra: { k: ['v'] } };
  t.deepEqual(
    impersonationAccesses(user, 'authentication.orch.io').map(({ resource, version }) => [resource, version]),
    [
      ['users', ''],
      ['groups', ''],
      ['uids', 'v1'],
      ['userextras', 'v1'],
    ],
  );
});

test('every value of an extra field is asked about by itself', (t) => {
  const user = { name: 'alice', uid: '', groups: [], extra: { scopes: ['a', 'b'], team: ['c'] } };
  t.deepEqual(
    impersonationAccesses(user, 'authentication.orch.io').map(({ subresource, name }) => [subresource, name]),
    [
      ['', 'alice'],
      ['scopes', 'a'],
      ['scopes', 'b'],
      ['team', 'c'],
    ],
  );
});
