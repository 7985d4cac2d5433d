// Which listener is opened for which needs, and that the one named works.
import { isOrchError } from '../../runtime/errors.ts';
import { chooseCiphers } from '../../transport/cipher-suites.ts';
import type { KeyPair } from '../../transport/http.ts';
import { type ListenerKind, openListener } from '../../transport/open-listener.ts';
import { prepareUws } from '../../transport/uws/binary.ts';
import { testOn } from '../server/listeners.ts';
import { RawClient } from './listener-client.ts';
import { HEADER_BYTES_MAX, listenerOptions, type OptionsChange, testPair } from './listener-fixture.ts';

prepareUws(HEADER_BYTES_MAX);

/** What only Node's listener can do, or nothing of the kind. */
const uwsTest = testOn('uws');

const ASKED: Readonly<Record<string, (pair: KeyPair) => OptionsChange>> = {
  'nothing special': () => ({}),
  'client certificates': (pair) => ({ tls: { ...pair, clientCaPem: pair.certPem } }),
  'TLS 1.3 alone': (pair) => ({ tls: { ...pair, minVersion: 'TLSv1.3' } }),
  'TLS 1.0': (pair) => ({ tls: { ...pair, minVersion: 'TLSv1' } }),
  'pairs by name': (pair) => ({ tls: { ...pair, namedPairs: [{ ...pair, patterns: ['x'] }] } }),
  'suites of both': (pair) => ({
    tls: { ...pair, ciphers: chooseCiphers(['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256']) },
  }),
  'one suite of TLS 1.3': (pair) => ({ tls: { ...pair, ciphers: chooseCiphers(['TLS_AES_128_GCM_SHA256']) } }),
  'a limit of streams': () => ({ streamsPerConnectionMax: 7 }),
  'connections sent away': () => ({ sendsAway: () => false }),
};

const CHOICES: readonly (readonly [kind: ListenerKind, asked: string, expected: 'uws' | 'node', note?: RegExp])[] = [
  ['auto', 'nothing special', 'uws'],
  ['uws', 'nothing special', 'uws'],
  ['node', 'nothing special', 'node'],
  ['auto', 'client certificates', 'node', /client certificates/],
  ['uws', 'client certificates', 'uws'],
  ['node', 'client certificates', 'node'],
  ['auto', 'TLS 1.3 alone', 'node', /TLS 1\.2 is ruled out/],
  ['auto', 'TLS 1.0', 'node', /older than 1\.2/],
  ['auto', 'pairs by name', 'node', /by name/],
  ['auto', 'suites of both', 'uws'],
  ['auto', 'one suite of TLS 1.3', 'node', /cipher suites/],
  ['auto', 'a limit of streams', 'node', /HTTP\/2/],
  ['auto', 'connections sent away', 'node', /HTTP\/2/],
];

for (const [kind, asked, expected, note] of CHOICES) {
  const test = testOn(expected);
  test.serial(`${kind} with ${asked} opens ${expected}`, async (t) => {
    const opened = await openListener(
      kind,
      await listenerOptions(true, (_, response) => response.respond(200, [], 'served'), ASKED[asked]!(await testPair)),
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

uwsTest.serial('what was named and cannot meet the TLS options is refused', async (t) => {
  const pair = await testPair;
  const options = await listenerOptions(true, () => {}, { tls: { ...pair, minVersion: 'TLSv1.3' } });
  t.true(isOrchError(await t.throwsAsync(openListener('uws', options)), 'BadConfiguration'));
});

uwsTest.serial('a header limit that came too late is noted', async (t) => {
  const options = await listenerOptions(false, () => {}, { headerBytesMax: HEADER_BYTES_MAX * 2 });
  const { listener, note } = await openListener('auto', options);
  t.regex(note ?? '', new RegExp(`limited to ${HEADER_BYTES_MAX} bytes`));
  await listener.close();
});
