// Goal: what V8 compiled at the build is taken by the threads it was compiled for, and by no other release of Node. Method: a process with the
// flags of the command loads each program as its threads do, and says whether V8 refused what lies beside it (undefined: it was given nothing).
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const PACKED = fileURLToPath(new URL('../../../packed/', import.meta.url));

/** What the process runs; its argument is `up` for a server's first thread. */
const LOADING = `
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads');
if (isMainThread) require('${PACKED}flags.js');
const { script, role } = require('${PACKED}program.js');
const said = role + ' ' + script.cachedDataRejected;
if (!isMainThread) parentPort.postMessage(said);
else {
  console.log(said);
  const plans = JSON.parse(process.argv[3] ?? '[]');
  for (const plan of plans) {
    const worker = new Worker(process.argv[4], { eval: true, workerData: { ...(plan && { plan }), thread: 0 } });
    worker.on('message', (text) => console.log(text));
  }
}`;

/** What makes a process pass for one of another build of Node, as far as a program can see. */
const OTHER_BUILDS: Readonly<Record<string, string>> = {
  'another release': "Object.defineProperty(process, 'version', { value: 'v20.19.0' });",
  'another binary of the release': `process.execPath = '${fileURLToPath(import.meta.url)}';`,
  'a binary that is gone': `process.execPath = '${fileURLToPath(import.meta.url)}.gone';`,
  'another processor': "Object.defineProperty(process, 'arch', { value: 'mips' });",
};

function loaded(...args: readonly string[]): string[] {
  return execFileSync(process.execPath, ['-e', LOADING, 'orch', ...args], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .sort();
}

test('nothing that V8 compiled at the build is refused', (t) => {
  const roles = readdirSync(PACKED)
    .filter((name) => name.endsWith('.compiled'))
    .map((name) => name.split('.')[0]!);
  const ofThreads = roles.filter((role) => !['serve', 'command', 'job'].includes(role));
  const plans = ofThreads.map((role) => ({ threads: [{ actors: role.split('-').map((actor) => ({ actor })) }] }));
  t.true(ofThreads.length > 1);
  t.deepEqual(
    loaded('up', JSON.stringify([null, ...plans]), LOADING),
    [...roles.filter((role) => role !== 'command').map((role) => `${role} false`)].sort(),
  );
  t.deepEqual(loaded('options'), ['command false']);
});

for (const [build, preparation] of Object.entries(OTHER_BUILDS)) {
  test(`what V8 compiled at the build is left alone by ${build}`, (t) => {
    const said = execFileSync(process.execPath, ['-e', `${preparation}${LOADING}`, 'orch', 'options'], {
      encoding: 'utf8',
    });
    t.is(said.trim(), 'command undefined');
  });
}

test('every program is read as it was written, one byte a character', (t) => {
  for (const name of readdirSync(PACKED).filter((file) => file.endsWith('.cjs'))) {
    const program = readFileSync(`${PACKED}${name}`);
    t.is(
      program.findIndex((byte) => byte > 0x7f),
      -1,
      name,
    );
  }
});
