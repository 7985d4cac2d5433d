// Which listener is opened for which needs, and that the one named works.
import test from 'ava';
import { isOrchError } from '../../runtime/errors.ts';
import { type ListenerKind, type ListenerNeeds, openListener } from '../../transport/open-listener.ts';
import { prepareUws } from '../../transport/uws/binary.ts';
import { RawClient } from './listener-client.ts';
import { HEADER_BYTES_MAX, listenerOptions, testPair } from './listener-fixture.ts';

prepareUws(HEADER_BYTES_MAX);

const NONE: ListenerNeeds = { clientCertificates: false, http2: false };

const CHOICES: readonly (readonly [
  kind: ListenerKind,
  needs: ListenerNeeds,
  expected: 'uws' | 'node',
  note: RegExp | undefined,
])[] = [
  ['auto', NONE, 'uws', undefined],
  ['uws', NONE, 'uws', undefined],
  ['node', NONE, 'node', undefined],
  ['auto', { ...NONE, clientCertificates: true }, 'node', /client certificates/],
  ['auto', { ...NONE, http2: true }, 'node', /HTTP\/2/],
  ['node', { clientCertificates: true, http2: true }, 'node', undefined],
];

for (const [kind, needs, expected, note] of CHOICES) {
  test.serial(`${kind} with ${JSON.stringify(needs)} opens ${expected}`, async (t) => {
    const opened = await openListener(
      kind,
      await listenerOptions(true, (_, response) => response.respond(200, [], 'served')),
      needs,
    );
    t.is(opened.listener.kind, expected);
    if (note === undefined) t.is(opened.note, undefined);
    else t.regex(opened.note ?? '', note);
    const client = await RawClient.open(opened.listener.port, true);
    client.send('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    t.is((await client.answer()).body.toString(), 'served');
    client.close();
    await opened.listener.close();
  });
}

test.serial('TLS 1.3 alone takes node', async (t) => {
  const tls = { ...(await testPair), minVersion: 'TLSv1.3' as const };
  const opened = await openListener('auto', await listenerOptions(true, () => {}, { tls }), NONE);
  t.is(opened.listener.kind, 'node');
  await opened.listener.close();
});

test.serial('what was named and cannot meet the TLS options is refused', async (t) => {
  const pair = await testPair;
  const options = await listenerOptions(true, () => {}, { tls: { ...pair, clientCaPem: pair.certPem } });
  t.true(isOrchError(await t.throwsAsync(openListener('uws', options, NONE)), 'BadConfiguration'));
});

test.serial('a header limit that came too late is noted', async (t) => {
  const options = await listenerOptions(false, () => {}, { headerBytesMax: HEADER_BYTES_MAX * 2 });
  const { listener, note } = await openListener('auto', options, NONE);
  t.regex(note ?? '', new RegExp(`limited to ${HEADER_BYTES_MAX} bytes`));
  await listener.close();
});
