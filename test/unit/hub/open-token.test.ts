// Continue tokens that the original server makes and takes as well.
import test from 'ava';
import {
  decodeContinueToken,
  encodeContinueToken,
  PRESENT_REVISION,
} from '../../../actors/hub/lists/continue-token.ts';
import type { Selection } from '../../../actors/hub/protocol.ts';

const SELECTION: Selection = { storageKey: 'core/pods', namespace: '', labelSelector: '', fieldSelector: '' };
const NO_KEY = new Uint8Array();
const text = (token: object): string => Buffer.from(JSON.stringify(token)).toString('base64url');

/** As kube-apiserver 1.20.2 wrote them, and where the list goes on behind. */
const GIVEN: readonly [namespace: string, revision: number, start: string, after: string][] = [
  ['default', 662, 'f25371-0-11\u0000', 'default/f25371-0-11'],
  ['', 662, 'default/f25371-0-11\u0000', 'default/f25371-0-11'],
  ['', 7, 'system:node\u0000', '/system:node'],
  ['', PRESENT_REVISION, 'default/a\u0000', 'default/a'],
];

test('a list of a store without a key goes on where the original left it, and the other way round', (t) => {
  for (const [namespace, rv, start, after] of GIVEN) {
    const given = text({ v: 'meta.k8s.io/v1', rv, start });
    const selection = { ...SELECTION, namespace };
    t.deepEqual(decodeContinueToken(given, selection, NO_KEY), { revision: rv, after });
    t.is(encodeContinueToken({ revision: rv, after }, selection, NO_KEY), given);
  }
});

test('what is no token of the original is none there, and its tokens are none of a store with a key', (t) => {
  const good = { v: 'meta.k8s.io/v1', rv: 5, start: 'a\u0000' };
  t.truthy(decodeContinueToken(text(good), SELECTION, NO_KEY));
  t.is(decodeContinueToken(text(good), SELECTION, Buffer.alloc(32, 7)), undefined);
  const others = [
    { ...good, v: 'v2' },
    { ...good, rv: 0 },
    { ...good, rv: '5' },
    { ...good, rv: 1.5 },
    { ...good, start: '' },
    { ...good, start: '\u0000' },
    { ...good, start: 'a' },
    { ...good, start: 5 },
    {},
  ];
  for (const one of others) t.is(decodeContinueToken(text(one), SELECTION, NO_KEY), undefined, JSON.stringify(one));
  for (const one of ['%%%', '', 'bnVsbA', 'WzFd']) t.is(decodeContinueToken(one, SELECTION, NO_KEY), undefined);
});

test('a token of a list of all namespaces goes on within the namespace of the list that it is brought to', (t) => {
  const given = text({ v: 'meta.k8s.io/v1', rv: 5, start: 'other/a\u0000' });
  t.deepEqual(decodeContinueToken(given, { ...SELECTION, namespace: 'default' }, NO_KEY), {
    revision: 5,
    after: 'default/other/a',
  });
});
