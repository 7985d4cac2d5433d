// What is said against a grant of what its author does not hold, in the words that clients know.
import test from 'ava';
import { type Grant, grantProblem } from '../../../../api/authorization/grant.ts';
import type { PolicyRule } from '../../../../api/authorization/policy-rule.ts';

const USER = { name: 'ann', uid: '', groups: ['devs'], extra: {} };
const GRANT: Grant = { verb: 'escalate', resource: 'roles', name: 'r', rules: [], isSum: false };
const told = (granted: readonly PolicyRule[], errors: readonly string[] = []): readonly string[] =>
  grantProblem(USER, GRANT, { rules: [], errors }, granted).split('\n').slice(1);

test('what is not held is told by resource with all of its verbs, and by path with each verb apart', (t) => {
  const granted = [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get', 'put'], nonResourceURLs: ['/metrics'] },
  ];
  t.deepEqual(told(granted), [
    '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    '{NonResourceURLs:["/metrics"], Verbs:["put"]}',
  ]);
});

test('what is said twice of a path is told once', (t) => {
  const metrics = { verbs: ['get'], nonResourceURLs: ['/metrics'] };
  t.deepEqual(told([metrics, metrics]), ['{NonResourceURLs:["/metrics"], Verbs:["get"]}']);
});

test('roles that a binding of the author names and that are not there are told as well', (t) => {
  const granted = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
  t.deepEqual(told(granted, ['role.rbac.example.net "x" not found']), [
    '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}; resolution errors: [roles.rbac.example.net "x" not found]',
  ]);
});
