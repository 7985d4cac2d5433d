// Servers that share a folder of certificates. Method: processes that make the pair at the same moment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { pairProblem } from '../../../transport/tls/certificates.ts';

const FOLDER = new URL('../../../bin/server/certificate-folder.js', import.meta.url).href;
const SERVERS = 4;
const ROUNDS = 4;

test('servers that start at once with one --cert-dir all have the same pair, whose key belongs to its certificate', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'orch-shared-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  // Each waits for the word, makes the pair of a round, and says what it has.
  const program = `
    import { readFileSync } from 'node:fs';
    import { createInterface } from 'node:readline';
    const { sharedPair } = await import(${JSON.stringify(FOLDER)});
    console.log('there');
    for await (const folder of createInterface(process.stdin)) {
      const { certFile, keyFile } = await sharedPair(folder, []);
      console.log(JSON.stringify({ certPem: readFileSync(certFile, 'utf8'), keyPem: readFileSync(keyFile, 'utf8') }));
    }`;
  const servers = Array.from({ length: SERVERS }, () => {
    const server = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.teardown(() => server.kill('SIGKILL'));
    return server;
  });
  const said = (): Promise<string[]> =>
    Promise.all(
      servers.map(async ({ stdout }) => {
        let text = '';
        while (!text.endsWith('\n')) text += String((await once(stdout, 'data'))[0]);
        return text;
      }),
    );
  await said();
  for (let round = 0; round < ROUNDS; round++) {
    const folder = join(root, String(round));
    const answers = said();
    for (const { stdin } of servers) stdin.write(`${folder}\n`);
    const pairs = new Set(await answers);
    t.is(pairs.size, 1);
    for (const pair of pairs) t.is(pairProblem(JSON.parse(pair)), undefined);
  }
  for (const { stdin } of servers) stdin.end();
});

test('what a server left in the folder that was killed as it wrote is gone when another has made the pair', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-shared-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'apiserver.key.123-0123abcd-1.tmp'), 'a key');
  writeFileSync(join(folder, 'mine.tmp'), 'somebody’s');
  const { sharedPair } = await import('../../../bin/server/certificate-folder.ts');
  const { keyFile } = await sharedPair(folder, []);
  t.deepEqual(readdirSync(folder).sort(), ['apiserver.crt', 'apiserver.key', 'apiserver.lock', 'mine.tmp']);
  t.regex(readFileSync(keyFile, 'utf8'), /PRIVATE KEY/);
});
