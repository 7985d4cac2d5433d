// How long a client gives its own request.
import test from 'ava';
import { askedTimeoutMs } from '../../../../actors/ingress/pipeline/request-deadline.ts';
import { parseQuery } from '../../../../api/requests/query.ts';
import { isStatusError } from '../../../../api/status/status.ts';

const asked = (text: string): number | undefined => askedTimeoutMs(parseQuery(text), 60_000);

test('a client may give its request less time than the server does, and no limit of its own is 0', (t) => {
  t.deepEqual(
    ['', 'timeout=', 'timeout=0', 'timeout=0s', 'timeout=10s', 'timeout=59.5s', 'timeout=60s', 'timeout=1h'].map(asked),
    [undefined, undefined, undefined, undefined, 10_000, 59_500, undefined, undefined],
  );
});

test('a time that is none, or negative, is refused', (t) => {
  for (const text of ['timeout=10', 'timeout=x', 'timeout=-1s']) {
    const error = t.throws(() => asked(text));
    t.true(isStatusError(error) && error.status.code === 400, text);
  }
});
