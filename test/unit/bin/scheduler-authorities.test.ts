// What a scheduler makes of the authorities that a cluster publishes for its components.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { usableAuthorities } from '../../../bin/scheduler/published-authorities.ts';
import { pemOf } from '../../../bin/scheduler/scheduler-access.ts';
import { clientAuthorities } from '../../../bin/scheduler/scheduler-authorities.ts';
import { parseArguments } from '../../../config/parse.ts';
import { bundleProblem } from '../../../transport/tls/certificates.ts';
import { testAuthority } from '../../server/test-authority.ts';

test('authorities of a cluster are believed also where a bundle ends without a new line', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-authorities-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [clients, proxies] = ['clients', 'proxies'].map((name) => testAuthority(folder, name).certPem.trimEnd());
  const cluster = usableAuthorities({
    'client-ca-file': clients!,
    'requestheader-client-ca-file': proxies!,
    'requestheader-username-headers': '["X-Remote-User"]',
  });
  const parsed = parseArguments('scheduler', []);
  if (parsed.action !== 'run') return t.fail();
  const authorities = clientAuthorities(parsed.options, { client: '', proxy: '' }, cluster);
  t.is(bundleProblem(pemOf(authorities)), undefined);
  t.is(pemOf(authorities).match(/^-----BEGIN CERTIFICATE-----$/gm)?.length, 2);
  t.deepEqual(authorities.usernameHeaders, ['x-remote-user']);
});

for (const [name, text, line] of [
  [
    'client-ca-file',
    'none',
    /^client-ca-file of the config map extension-apiserver-authentication holds no certificates$/,
  ],
  [
    'requestheader-allowed-names',
    'a,b',
    /^requestheader-allowed-names of the config map .* is no list of texts in JSON$/,
  ],
  [
    'requestheader-group-headers',
    '[1]',
    /^requestheader-group-headers of the config map .* is no list of texts in JSON$/,
  ],
] as const) {
  test(`authorities of a cluster whose ${name} is of no use are refused with a line that names it`, (t) => {
    t.throws(() => usableAuthorities({ [name]: text }), { code: 'BadConfiguration', message: line });
  });
}
