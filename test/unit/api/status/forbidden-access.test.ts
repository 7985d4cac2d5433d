// What a 403 says of whom and what.
import test from 'ava';
import { pathAccess } from '../../../../api/authorization/attributes.ts';
import { forbiddenAccess } from '../../../../api/authorization/forbidden-access.ts';

const PODS = { ...pathAccess('list', ''), isResource: true, version: 'v1', resource: 'pods', namespace: 'a' };

test('names are quoted, and no markup to a browser, but what an authorizer says is told as it is', (t) => {
  t.is(
    forbiddenAccess('da"n\\<b>', PODS, '"no" & <why>').message,
    'pods is forbidden: User "da\\"n\\\\&lt;b&gt;" cannot list resource "pods" in API group "" in the namespace "a": "no" & <why>',
  );
  t.is(
    forbiddenAccess('dän', pathAccess('get', '/a&"b'), '').message,
    'forbidden: User "dän" cannot get path "/a&amp;\\"b"',
  );
});
