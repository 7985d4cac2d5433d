// What a client is told of an error that ended its request.
import test from 'ava';
import { statusOfError } from '../../actors/error-status.ts';
import { OrchError, type OrchErrorCode } from '../../runtime/errors.ts';

const TEXT = 'etcdserver: request is too large';
const CASES: readonly (readonly [code: OrchErrorCode, status: number, reason: string, message: string])[] = [
  ['DeadlineExceeded', 504, 'Timeout', 'Timeout: request did not complete within the allotted timeout'],
  ['StoreUnusable', 504, 'Timeout', 'Timeout: request did not complete within the allotted timeout'],
  ['StorageFull', 507, 'InsufficientStorage', TEXT],
  ['StorageFailed', 500, 'InternalError', `Internal error occurred: ${TEXT}`],
  ['StorageUnsure', 503, 'ServiceUnavailable', TEXT],
  ['StorageTooLarge', 500, '', TEXT],
];

for (const [code, status, reason, message] of CASES) {
  test(`a request that ends with ${code} is answered ${status}`, (t) => {
    t.like(statusOfError(new OrchError(code, TEXT), 'POST'), { code: status, message });
    t.is(String(statusOfError(new OrchError(code, TEXT), 'POST')?.reason ?? ''), reason);
  });
}

test('a client sends a read again by itself that a thread was lost with, and not a write', (t) => {
  const down = new OrchError('ActorDown', 'gone');
  t.is(statusOfError(down, 'GET')?.details?.retryAfterSeconds, 1);
  t.is(statusOfError(down, 'POST')?.details?.retryAfterSeconds, undefined);
});

test('what nobody foresaw stands for nothing that a client is told', (t) => {
  t.is(statusOfError(new Error('a bug'), 'GET'), undefined);
  t.is(statusOfError(new OrchError('Refused', 'a bug'), 'GET'), undefined);
});
