// What is recorded of requests with tokens that should have been replaced.
import test from 'ava';
import { TokenNotes } from '../../../../actors/ingress/audit/token-notes.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const NOW_SECONDS = 1_000_000;
const notes = new TokenNotes({ nowMs: () => NOW_SECONDS * 1000 + 500 }, DIALECTS.orch);

test('a token that is kept in a secret is recorded, and one that should have been renewed with how late it is', (t) => {
  t.deepEqual(notes.of('robot', 0), { 'authentication.orch.io/legacy-token': 'robot' });
  t.deepEqual(notes.of('robot', NOW_SECONDS - 90), {
    'authentication.orch.io/stale-token': 'subject: robot, seconds after warning threshold: 90',
  });
  t.is(notes.of('robot', NOW_SECONDS + 1), undefined);
});
