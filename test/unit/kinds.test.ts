// The table of kinds stands for the roster where its code is not loaded: they must say the same.
import test from 'ava';
import { KINDS } from '../../actors/kinds.ts';
import { roster } from '../../actors/roster.ts';

test('what is known of a kind without its code is what its code says', (t) => {
  const facts = roster.map(({ kind, mailboxMax, stopOrder, settings }) =>
    settings === undefined ? { kind, mailboxMax, stopOrder } : { kind, mailboxMax, stopOrder, settings },
  );
  t.deepEqual([...KINDS], facts);
});
