// Whom a request is to run as, as its headers say it.
import test from 'ava';
import { impersonationOf } from '../../../../actors/ingress/pipeline/impersonation.ts';
import type { HttpRequest } from '../../../../transport/http.ts';
import { hasHeaderStarting, headersStarting } from '../../../../transport/raw-headers.ts';

function asked(...headers: readonly string[]) {
  return impersonationOf({
    hasHeaderWithPrefix: (prefix: string) => hasHeaderStarting(headers, prefix),
    headersWithPrefix: (prefix: string) => headersStarting(headers, prefix),
  } as HttpRequest);
}

test('the headers name a user with groups and extra fields, or nobody', (t) => {
  t.is(asked('accept', 'a/b'), undefined);
  t.deepEqual(
    asked(
      'impersonate-user',
      'jane',
      'impersonate-group',
      'a',
      'impersonate-group',
      'b',
      'impersonate-extra-x%2fy',
      'v',
    ),
    { name: 'jane', uid: '', groups: ['a', 'b'], extra: { 'x/y': ['v'] } },
  );
  t.is(asked('impersonate-group', 'a'), null);
  t.like(asked('impersonate-user', 'jane', 'impersonate-user', 'joe'), { name: 'jane' });
});

test('a header that is there and empty may have named somebody: the request does not run as its sender', (t) => {
  t.is(asked('impersonate-user', ''), null);
  t.is(asked('impersonate-user', 'jane', 'impersonate-group', ''), null);
  t.is(asked('impersonate-user', 'jane', 'impersonate-extra-team', ''), null);
});

test('an id and extra fields belong to a user that is named, and a header that means nothing names nobody', (t) => {
  t.like(asked('impersonate-uid', 'u', 'impersonate-uid', 'v', 'impersonate-user', 'jane'), { name: 'jane', uid: 'u' });
  t.is(asked('impersonate-uid', 'u'), null);
  t.is(asked('impersonate-extra-team', 'a'), null);
  t.is(asked('impersonate-nothing', 'a'), undefined);
  t.deepEqual(asked('impersonate-user', 'jane', 'impersonate-extra-team', 'a', 'impersonate-extra-team', 'b')?.extra, {
    team: ['a', 'b'],
  });
});
