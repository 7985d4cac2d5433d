// Who asks, as the headers of a proxy say it.
import test from 'ava';
import { proxiedIdentityOf } from '../../../../actors/ingress/pipeline/proxied-identity.ts';
import type { HttpRequest } from '../../../../transport/http.ts';
import { headersStarting, headerValue } from '../../../../transport/raw-headers.ts';

const NAMES = { names: ['x-user', 'x-remote-user'], groups: ['x-group'], extraPrefixes: ['x-extra-'] };

function said(...headers: readonly string[]) {
  const request = {
    header: (name: string) => headerValue(headers, name),
    headersWithPrefix: (prefix: string) => headersStarting(headers, prefix),
  };
  return proxiedIdentityOf(request as HttpRequest, NAMES);
}

test('the first header that names a user counts, and of several the first', (t) => {
  t.is(said('x-group', 'a'), undefined);
  t.is(said('x-user', ''), undefined);
  t.like(said('x-remote-user', 'remy', 'x-user', 'ann'), { name: 'ann' });
  t.like(said('x-user', '', 'x-user', 'ann', 'x-user', 'bob'), { name: 'ann' });
  t.like(said('x-user', '', 'x-remote-user', 'remy'), { name: 'remy' });
});

test('groups and extra fields are those of all their headers', (t) => {
  t.deepEqual(said('x-user', 'ann', 'x-group', 'a', 'x-group', 'b', 'x-extra-k%2fl', 'v', 'x-extra-k%2fl', 'w'), {
    name: 'ann',
    groups: ['a', 'b'],
    extra: { 'k/l': ['v', 'w'] },
  });
});

test('a header whose name goes on says neither whose request it is nor their groups', (t) => {
  t.is(said('x-user-name', 'eve'), undefined);
  t.deepEqual(said('x-user-name', 'eve', 'x-user', 'ann', 'x-groups', 'admins', 'x-group', ''), {
    name: 'ann',
    groups: [],
    extra: {},
  });
});
