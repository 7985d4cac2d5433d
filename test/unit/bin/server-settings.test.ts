// What a server is started with, out of its options.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { prepare } from '../../../bin/server/server-settings.ts';
import type { ServerOptions } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';

for (const address of ['0.0.0.0', '::', '::0', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0']) {
  test(`a server that is bound to every address, as ${address}, names none of them all as its own`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-settings-'));
    t.teardown(() => rmSync(directory, { recursive: true, force: true }));
    const own = ['--data-dir', directory, '--cert-dir', directory];
    const parsed = parseArguments('apiserver', [...own, '--bind-address', address]);
    const { way, settings } = await prepare((parsed as { options: ServerOptions }).options, directory, '');
    t.is(way.server, 'https://127.0.0.1:6443');
    t.not(settings.advertiseAddress, address);
  });
}
