// What is said of the operator's certificates before a start.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checkServingTls, servingTls, untimelyCertificates } from '../../../bin/server/serving-tls.ts';
import type { ServerOptions } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';
import { makeSelfSigned } from '../../../transport/tls/self-signed.ts';
import { certificateAuthority, intermediateAuthority } from '../../server/credentials.ts';

const DAY_MS = 24 * 3600 * 1000;

test('a certificate that has ended, or begins later, is told of before a start', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-certificates-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'a.crt');
  const toldOf = async (fromDays: number, toDays: number): Promise<readonly string[]> => {
    const at = (days: number): Date => new Date(Date.now() + days * DAY_MS);
    const pair = await makeSelfSigned({ commonName: 'a', names: ['a'], notBefore: at(fromDays), notAfter: at(toDays) });
    writeFileSync(file, pair.certPem);
    const argv = ['--data-dir', directory, '--tls-cert-file', file, '--tls-private-key-file', file];
    return untimelyCertificates((parseArguments('up', argv) as { options: ServerOptions }).options);
  };
  t.deepEqual(await toldOf(-1, 1), []);
  t.regex(String(await toldOf(-2, -1)), /a\.crt has ended \(.*\): clients refuse it$/);
  t.regex(String(await toldOf(1, 2)), /a\.crt begins later \(.*\): clients refuse it$/);
});

test('an authority of clients that the uws listener does not go by is told of before a start, and the other goes by it', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-authorities-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  certificateAuthority(directory, 'root');
  intermediateAuthority(directory, 'root', 'branch');
  const check = (ingress: string, file: string): void =>
    checkServingTls(
      (
        parseArguments('up', ['--ingress', ingress, '--client-ca-file', join(directory, file)]) as {
          options: ServerOptions;
        }
      ).options,
    );
  const message =
    /^the uws listener cannot do it: the authority of clients CN=branch is signed by another, which is not/;
  t.throws(() => check('uws', 'branch.crt'), { code: 'BadConfiguration', message });
  for (const [ingress, file] of [
    ['node', 'branch.crt'],
    ['auto', 'branch.crt'],
    ['uws', 'root.crt'],
    ['uws', 'not-there-yet.crt'],
  ] as const)
    t.notThrows(() => check(ingress, file));
  writeFileSync(
    join(directory, 'both.crt'),
    ['root.crt', 'branch.crt'].map((file) => readFileSync(join(directory, file), 'utf8')).join(''),
  );
  t.notThrows(() => check('uws', 'both.crt'));
});

for (const [argv, reason] of [
  [['--goaway-chance', '0.01'], 'HTTP/2 is asked for'],
  [['--http2-max-streams-per-connection', '5'], 'HTTP/2 is asked for'],
  [['--tls-min-version', 'VersionTLS13'], 'TLS 1.2 is ruled out'],
] as const) {
  test(`${argv[0]} with --ingress uws is refused by a start and by check-config, and taken with the others`, async (t) => {
    const optionsWith = (ingress: string): ServerOptions =>
      (parseArguments('up', ['--ingress', ingress, ...argv]) as { options: ServerOptions }).options;
    const refusal = { code: 'BadConfiguration', message: `the uws listener cannot do it: ${reason}` };
    t.like(
      t.throws(() => checkServingTls(optionsWith('uws'))),
      refusal,
    );
    t.like(await t.throwsAsync(servingTls(optionsWith('uws'), '/nothing/is/made/here', [])), refusal);
    for (const other of ['auto', 'node']) t.notThrows(() => checkServingTls(optionsWith(other)));
  });
}
