// What is cut out of answers that repeat what their service was shown.
import test from 'ava';
import { withoutCredentials, withoutSecret } from '../../../../transport/outgoing/echoed-secrets.ts';

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

const TOLD: readonly (readonly [authorization: string, text: string, told: string])[] = [
  ['Bearer of-ours-1f9c', 'no: Bearer of-ours-1f9c, of-ours-1f9c', 'no: Bearer [redacted], [redacted]'],
  ['Bearer of-ours-1f9c', 'no: of-theirs', 'no: of-theirs'],
  ['Bearer no', 'no: nobody', 'no: nobody'],
  [basic('us:of-ours-1f9c'), `${basic('us:of-ours-1f9c')} is us:of-ours-1f9c`, 'Basic [redacted] is [redacted]'],
  [basic('us:of-ours-1f9c'), 'of-ours-1f9c is wrong', '[redacted] is wrong'],
  ['Bearer $&$1-$2-$3', '$&$1-$2-$3', '[redacted]'],
];

test('an answer is told without the credentials that it repeats', (t) => {
  for (const [authorization, text, told] of TOLD) t.is(withoutCredentials(text, authorization), told);
});

test('a text is told without a secret, and as it is without one', (t) => {
  t.is(withoutSecret('a 12345678 b 12345678', '12345678'), 'a [redacted] b [redacted]');
  t.is(withoutSecret('a 1234567 b', '1234567'), 'a 1234567 b');
  t.is(withoutSecret('a', ''), 'a');
});
