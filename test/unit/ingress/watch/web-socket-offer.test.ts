// The protocols a client offers with a WebSocket, and the token among them.
import test from 'ava';
import { webSocketBearerPrefix, webSocketOffer } from '../../../../actors/ingress/watch/web-socket-offer.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { HttpRequest } from '../../../../transport/http.ts';

const PREFIX = webSocketBearerPrefix(DIALECTS.kubernetes);
const offer = (header: string) => webSocketOffer({ header: () => header } as unknown as HttpRequest, PREFIX);
const token = (text: string | Buffer): string => PREFIX + Buffer.from(text).toString('base64url');

test('the prefix is spelled by the dialect', (t) => {
  t.is(PREFIX, 'base64url.bearer.authorization.k8s.io.');
  t.is(webSocketBearerPrefix(DIALECTS.orch), 'base64url.bearer.authorization.orch.io.');
});

const CASES: readonly (readonly [header: string, protocols: readonly string[], token: string, isMalformed: boolean])[] =
  [
    ['', [], '', false],
    ['one', ['one'], '', false],
    ['one, two,three ', ['one', 'two', 'three'], '', false],
    [`${token('secret~?')}, base64.binary.k8s.io`, ['base64.binary.k8s.io'], 'secret~?', false],
    [`a,${token('x')},b`, ['a', 'b'], 'x', false],
    [token('x'), [], '', true],
    [`a,${token('x')},${token('y')}`, ['a'], '', true],
    [`a,${PREFIX}`, ['a'], '', true],
    [`a,${PREFIX}eA==`, ['a'], '', true],
    [`a,${token(Buffer.of(0xff, 0xfe))}`, ['a'], '', true],
  ];
for (const [header, protocols, expected, isMalformed] of CASES) {
  test(`"${header}" offers ${protocols.length} protocols and ${isMalformed ? 'no good token' : `"${expected}"`}`, (t) => {
    t.deepEqual(offer(header), { protocols, token: expected, isMalformed });
  });
}
