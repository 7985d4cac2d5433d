// Why a call of a webhook came to nothing, as its caller is told.
import test from 'ava';
import { NoPlace } from '../../../actors/outside/service-places.ts';
import { reasonOf } from '../../../actors/outside/webhook-failure.ts';
import { tooManyRequests } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { ServiceCallFailed, ServiceRefused, ServiceTooLate } from '../../../transport/outgoing/service-client.ts';

const URL = 'https://hook/check';
const post = (detail: string): string => `Post "${URL}": ${detail}`;

test('a call that had no answer is told with where it went and what went wrong', (t) => {
  t.is(reasonOf(new ServiceTooLate(), URL), post('context deadline exceeded'));
  t.is(reasonOf(new ServiceCallFailed('connection refused', true), URL), post('connection refused'));
  t.is(reasonOf(new NoPlace('service "hook" not found'), URL), post('service "hook" not found'));
  const status = tooManyRequests('busy', 1);
  t.is(reasonOf(new StatusError(status), URL), post(status.message!));
  const coded = Object.assign(new Error('PEM routines'), { code: 'ERR_OSSL_PEM' });
  t.is(reasonOf(coded, URL), post('the service could not be reached (ERR_OSSL_PEM)'));
});

test('what is no failure of the webhook is not told as one', (t) => {
  for (const error of [new TypeError('a bug'), { code: 'x' }, undefined]) t.is(reasonOf(error, URL), undefined);
});

const server = (said: string): string =>
  `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`;

test('a webhook that refuses says why by a Status of a failure, or by its text, and of anything else nothing is known', (t) => {
  const refused = (text: string, code = 500) => reasonOf(new ServiceRefused(code, text), URL);
  const typed = (text: string) => reasonOf(new ServiceRefused(500, text, undefined, false), URL);
  const failure = '{"kind":"Status","status":"Failure","message":"not today"}';
  t.is(refused(failure), 'not today');
  t.is(typed(failure), 'not today');
  t.is(refused('{"kind":"Status","status":"Failure"}'), '');
  const others = [
    '{"kind":"Status","message":"not today"}',
    '{"kind":"Other","message":"not today"}',
    '"text"',
    'text',
  ];
  for (const other of others) {
    t.is(refused(other), server(other));
    t.is(typed(other), server('unknown'));
  }
  t.is(refused('  out of order\n'), server('out of order'));
  t.is(refused('"text"'), server('"text"'));
  t.is(refused(''), server(''));
  t.is(refused(`${'x'.repeat(2048)}y`), server('x'.repeat(2048)));
  for (const nothing of [new ServiceRefused(406, ''), new ServiceRefused(406, '{}', undefined, false)])
    t.is(reasonOf(nothing, URL), 'the server was unable to respond with a content type that the client supports');
});
