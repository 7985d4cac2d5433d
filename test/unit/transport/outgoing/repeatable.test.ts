import test from 'ava';
import { mayRepeatOnNew, wasCutShort } from '../../../../transport/outgoing/repeatable.ts';

function failed(code: string | undefined, syscall?: string): NodeJS.ErrnoException {
  return Object.assign(new Error('socket hang up'), {
    ...(code === undefined ? {} : { code }),
    ...(syscall === undefined ? {} : { syscall }),
  });
}

const cases: readonly (readonly [method: string, reused: boolean, error: NodeJS.ErrnoException, repeats: boolean])[] = [
  ['GET', true, failed('ECONNRESET', 'read'), true],
  ['GET', true, failed('ECONNRESET'), true],
  ['HEAD', true, failed('EPIPE', 'write'), true],
  ['GET', false, failed('ECONNRESET', 'read'), false],
  ['GET', true, failed('ETIMEDOUT', 'read'), false],
  ['GET', true, failed(undefined), false],
  ['POST', true, failed('ECONNRESET', 'read'), false],
  ['POST', true, failed('ECONNRESET'), false],
  ['POST', true, failed('EPIPE', 'write'), true],
  ['POST', true, failed('ECONNRESET', 'write'), true],
  ['POST', false, failed('EPIPE', 'write'), false],
  ['PUT', true, failed('ECONNRESET', 'read'), false],
  ['DELETE', true, failed('ECONNRESET', 'read'), false],
];

for (const [method, reusedSocket, error, repeats] of cases) {
  const how = `${error.code ?? 'no code'}${error.syscall === undefined ? '' : ` of a ${error.syscall}`}`;
  const where = reusedSocket ? 'a kept connection' : 'a new connection';
  test(`${method} on ${where} that ends with ${how} is ${repeats ? '' : 'not '}sent again`, (t) => {
    t.is(mayRepeatOnNew({ method, reusedSocket }, error), repeats);
  });
}

test('a POST that only asks is sent again, on a kept connection alone', (t) => {
  const error = failed('ECONNRESET', 'read');
  t.true(mayRepeatOnNew({ method: 'POST', reusedSocket: true, doesNothing: true }, error));
  t.false(mayRepeatOnNew({ method: 'POST', reusedSocket: false, doesNothing: true }, error));
});

test('only a write that failed says that the request was cut short', (t) => {
  t.true(wasCutShort(failed('EPIPE', 'write')));
  t.false(wasCutShort(failed('ECONNRESET', 'read')));
  t.false(wasCutShort(failed('ECONNRESET')));
  t.false(wasCutShort(failed('EACCES', 'write')));
});
