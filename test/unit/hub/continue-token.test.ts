import test from 'ava';
import {
  decodeContinueToken,
  encodeContinueToken,
  PRESENT_REVISION,
} from '../../../actors/hub/lists/continue-token.ts';
import type { Selection } from '../../../actors/hub/protocol.ts';

const KEY = Buffer.alloc(32, 7);
const SELECTION: Selection = { storageKey: 'core/pods', namespace: 'a', labelSelector: 'x=y', fieldSelector: '' };
const TOKEN = { revision: 12345678901234, after: 'a/some.pod-1' };

test('a token comes back as it was made', (t) => {
  const tokens = [TOKEN, { revision: 1, after: '/node' }, { revision: PRESENT_REVISION, after: 'é/"😀"' }];
  for (const token of tokens) {
    const text = encodeContinueToken(token, SELECTION, KEY);
    t.regex(text, /^[\w-]+$/, 'it needs no escaping in an address');
    t.deepEqual(decodeContinueToken(text, SELECTION, KEY), token);
  }
});

test('a token is good for its own list only', (t) => {
  const text = encodeContinueToken(TOKEN, SELECTION, KEY);
  const others: Partial<Selection>[] = [
    { storageKey: 'core/secrets' },
    { namespace: '' },
    { namespace: 'a-b' },
    { labelSelector: '' },
    { labelSelector: '', fieldSelector: 'x=y' },
    { fieldSelector: 'metadata.name=z' },
  ];
  for (const other of others) t.is(decodeContinueToken(text, { ...SELECTION, ...other }, KEY), undefined);
});

test('a token of another store is refused', (t) => {
  const text = encodeContinueToken(TOKEN, SELECTION, KEY);
  t.is(decodeContinueToken(text, SELECTION, Buffer.alloc(32, 8)), undefined);
  t.is(decodeContinueToken(text, SELECTION, new Uint8Array()), undefined);
});

test('a token with any bit changed is refused', (t) => {
  const bytes = Buffer.from(encodeContinueToken(TOKEN, SELECTION, KEY), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes);
    altered[bit >> 3] = altered[bit >> 3]! ^ (1 << (bit & 7));
    t.is(decodeContinueToken(altered.toString('base64url'), SELECTION, KEY), undefined, `bit ${bit}`);
  }
});

test('what is no token at all is refused without trouble', (t) => {
  const texts = ['', 'x', 'AAAAAAAAAAAAAAAA', '%%%', '\u0000', '[1,"a"]', 'é'.repeat(100), 'A'.repeat(1_000_000)];
  for (const text of texts) t.is(decodeContinueToken(text, SELECTION, KEY), undefined);
  const text = encodeContinueToken(TOKEN, SELECTION, KEY);
  for (let length = 0; length < text.length - 1; length++) {
    t.is(decodeContinueToken(text.slice(0, length), SELECTION, KEY), undefined);
  }
});
