// A log that is put aside when it is full: which of the old files stay, by number and by age.
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { RotatingFile, type RotatingFileLimits } from '../../../storage/files/rotating-file.ts';

const DAY_MS = 24 * 3600 * 1000;
const LIMITS: RotatingFileLimits = { bytesMax: 10, daysMax: 0, backupsMax: 0, compresses: false };

function log(t: ExecutionContext, limits: Partial<RotatingFileLimits>) {
  const folder = mkdtempSync(join(tmpdir(), 'orch-rotating-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const time = { ms: Date.UTC(2026, 0, 2, 3, 4, 5) };
  const file = new RotatingFile(
    join(folder, 'a.log'),
    { ...LIMITS, ...limits },
    () => time.ms,
    (error) => t.fail(String(error)),
  );
  const names = (): string[] => readdirSync(folder).sort();
  return { folder, file, time, names };
}

test('a file is put aside before it grows beyond its size, and nothing in it is lost', async (t) => {
  const { folder, file, names } = log(t, {});
  for (const line of ['one\n', 'two\n', 'three\n', 'much more than a file\n', 'end\n']) file.append(line);
  await file.close();
  t.deepEqual(names(), [
    'a-2026-01-02T03-04-05.000.log',
    'a-2026-01-02T03-04-05.001.log',
    'a-2026-01-02T03-04-05.002.log',
    'a.log',
  ]);
  t.deepEqual(
    names().map((name) => readFileSync(join(folder, name), 'utf8')),
    ['one\ntwo\n', 'three\n', 'much more than a file\n', 'end\n'],
  );
});

test('a full file that somebody has moved away is begun anew, and the text that comes then is in it', async (t) => {
  const { folder, file, names } = log(t, {});
  file.append('one\ntwo\n');
  renameSync(join(folder, 'a.log'), join(folder, 'taken'));
  file.append('three\n');
  await file.close();
  t.deepEqual(names(), ['a.log', 'taken']);
  t.is(readFileSync(join(folder, 'a.log'), 'utf8'), 'three\n');
});

test('texts of any length and in any script are in the file as they were appended', async (t) => {
  const { folder, file, names } = log(t, { bytesMax: 10_000_000 });
  const texts = ['a long one\n', 'é€😀\n', `${'€'.repeat(100_000)}\n`, `${'x'.repeat(80_000)}\n`, 'short\n'];
  for (const text of texts) file.append(text);
  await file.close();
  t.deepEqual(names(), ['a.log']);
  t.is(readFileSync(join(folder, 'a.log'), 'utf8'), texts.join(''));
});

test('what several write to one file stays, whoever puts it aside, and is compressed by one of them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-rotating-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [one, other] = [0, 1].map(
    (index) =>
      new RotatingFile(
        join(folder, 'a.log'),
        { ...LIMITS, bytesMax: 20, compresses: true },
        () => Date.UTC(2026, 0, 2, 3, 4, 5),
        (error) => t.fail(String(error)),
        { index, count: 2 },
      ),
  ) as [RotatingFile, RotatingFile];
  const lines = Array.from({ length: 12 }, (_, i) => `line ${i}\n`);
  for (const [i, line] of lines.slice(0, 6).entries()) (i % 2 === 0 ? one : other).append(line);
  await one.close();
  for (const [i, line] of lines.slice(6).entries()) (i % 2 === 0 ? other : one).append(line);
  await Promise.all([one.close(), other.close()]);
  const names = readdirSync(folder);
  const texts = names.map((name) => {
    const bytes = readFileSync(join(folder, name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  });
  t.deepEqual(texts.join('').split('\n').filter(Boolean).sort(), lines.map((line) => line.trim()).sort());
  t.is(names.filter((name) => name.endsWith('.gz')).length, names.length - 1);
  t.true(
    texts.every((text) => text.length <= 20),
    texts.join('|'),
  );
});

test('a device is never put aside, also where a link leads to it', async (t) => {
  const { folder, file, names } = log(t, {});
  symlinkSync('/dev/null', join(folder, 'a.log'));
  for (const line of ['one\n', 'two\n', 'three\n']) file.append(line);
  await file.close();
  t.deepEqual(names(), ['a.log']);
  t.is(readlinkSync(join(folder, 'a.log')), '/dev/null');
});

test('what a start finds in the file counts', async (t) => {
  const { folder, file, names } = log(t, {});
  writeFileSync(join(folder, 'a.log'), 'nearly.\n');
  file.append('more\n');
  await file.close();
  t.is(names().length, 2);
});

test('old files are deleted by their number, and others are left alone', async (t) => {
  const { folder, file, time, names } = log(t, { backupsMax: 2 });
  writeFileSync(join(folder, 'a-notes.log'), '');
  for (let i = 0; i < 5; i++) {
    file.append('123456789\n');
    time.ms += 1000;
  }
  await file.close();
  t.deepEqual(names(), ['a-2026-01-02T03-04-08.000.log', 'a-2026-01-02T03-04-09.000.log', 'a-notes.log', 'a.log']);
});

test('old files are deleted by their age (--audit-log-maxage)', async (t) => {
  const { file, time, names } = log(t, { daysMax: 3 });
  for (let i = 0; i < 6; i++) {
    file.append('123456789\n');
    time.ms += DAY_MS;
  }
  await file.close();
  t.deepEqual(
    names().map((name) => name.slice(2, 12)),
    ['2026-01-05', '2026-01-06', '2026-01-07', 'log'],
  );
});

test('old files are compressed', async (t) => {
  const { folder, file, names } = log(t, { compresses: true });
  for (const line of ['123456789\n', 'abcdefghi\n', 'end\n']) file.append(line);
  await file.close();
  const [first, second] = names();
  t.regex(first!, /\.log\.gz$/);
  t.is(gunzipSync(readFileSync(join(folder, first!))).toString(), '123456789\n');
  t.is(gunzipSync(readFileSync(join(folder, second!))).toString(), 'abcdefghi\n');
});

test('an old file whose compression was cut short counts once, and is compressed again', async (t) => {
  const { folder, file, time, names } = log(t, { compresses: true, backupsMax: 2 });
  const cut = 'a-2026-01-02T03-04-04.000.log';
  writeFileSync(join(folder, cut), 'whole');
  writeFileSync(join(folder, `${cut}.gz`), 'a part');
  time.ms += 1000;
  for (const line of ['123456789\n', 'end\n']) file.append(line);
  await file.close();
  t.deepEqual(names(), [`${cut}.gz`, 'a-2026-01-02T03-04-06.000.log.gz', 'a.log']);
  t.is(gunzipSync(readFileSync(join(folder, `${cut}.gz`))).toString(), 'whole');
});

test('old files are deleted also where none can be compressed', async (t) => {
  const { folder, time, names } = log(t, {});
  const problems: unknown[] = [];
  const limits = { ...LIMITS, compresses: true, backupsMax: 2 };
  const file = new RotatingFile(
    join(folder, 'a.log'),
    limits,
    () => time.ms,
    (error) => problems.push(error),
  );
  for (const second of ['01', '02', '03']) writeFileSync(join(folder, `a-2026-01-02T03-04-${second}.000.log.gz`), '');
  // A folder cannot be compressed.
  mkdirSync(join(folder, 'a-2026-01-02T03-04-06.000.log'));
  for (const line of ['123456789\n', 'end\n']) file.append(line);
  await file.close();
  t.is(problems.length, 1);
  t.deepEqual(names(), ['a-2026-01-02T03-04-05.000.log', 'a-2026-01-02T03-04-06.000.log', 'a.log']);
});

test('a file is not put aside under the name of one that has been compressed', async (t) => {
  const { file, names } = log(t, { compresses: true });
  for (const lines of [['one is long\n', 'two\n'], ['three is long\n']]) {
    for (const line of lines) file.append(line);
    await file.close();
  }
  t.deepEqual(names(), ['a-2026-01-02T03-04-05.000.log.gz', 'a-2026-01-02T03-04-05.001.log.gz', 'a.log']);
});

test('a file that cannot be written throws, and is tried again', async (t) => {
  const { folder, file } = log(t, {});
  writeFileSync(join(folder, 'b'), '');
  const beneath = new RotatingFile(
    join(folder, 'b', 'c.log'),
    LIMITS,
    () => 0,
    (error) => t.fail(String(error)),
  );
  t.throws(() => beneath.append('x\n'));
  rmSync(join(folder, 'b'));
  beneath.append('x\n');
  t.is(readFileSync(join(folder, 'b', 'c.log'), 'utf8'), 'x\n');
  await beneath.close();
  await file.close();
});

/** Appends lines in a process of its own, in which files may not be longer than 512 bytes. Returns the errors' codes. */
function appendToShortFile(path: string, lines: readonly string[], before = ''): string {
  const program = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    ${before}
    const { RotatingFile } = await import(${JSON.stringify(new URL('../../../storage/files/rotating-file.js', import.meta.url))});
    const file = new RotatingFile(${JSON.stringify(path)}, { bytesMax: 1e6, daysMax: 0, backupsMax: 0 }, Date.now, () => {});
    for (const text of ${JSON.stringify(lines)}) try { file.append(text); } catch (error) { console.log(error.code); }
  `;
  const arguments_ = ['-c', 'ulimit -f 1; exec "$0" --input-type=module -e "$1"', process.execPath, program];
  return spawnSync('sh', arguments_, { encoding: 'utf8' }).stdout;
}

const LINE = `${'x'.repeat(199)}\n`;

test('of a text that a full disk takes in part nothing stays, and the next one stands by itself', (t) => {
  const { folder } = log(t, {});
  const path = join(folder, 'a.log');
  t.is(appendToShortFile(path, [LINE, LINE, LINE, 'short\n']), 'EFBIG\n');
  t.is(readFileSync(path, 'utf8'), `${LINE}${LINE}short\n`);
});

test('where such a part cannot be taken back, as from a file that may only grow, the next line stands by itself', (t) => {
  const { folder } = log(t, {});
  const path = join(folder, 'a.log');
  const growsOnly = `
    const failing = (code) => { throw Object.assign(new Error(), { code }); };
    fs.ftruncateSync = () => failing('EPERM');
    const { writeSync } = fs;
    let writes = 0;
    fs.writeSync = (descriptor, bytes, ...more) => {
      if (++writes === 2) return writeSync(descriptor, bytes, 0, 3);
      return writes === 3 ? failing('ENOSPC') : writeSync(descriptor, bytes, ...more);
    };
    syncBuiltinESMExports();
  `;
  t.is(appendToShortFile(path, ['one\n', 'second\n', 'three\n', 'four\n'], growsOnly), 'ENOSPC\n');
  t.is(readFileSync(path, 'utf8'), 'one\nsec\nthree\nfour\n');
});

test('a line stands by itself behind one that was cut short when the machine lost power', async (t) => {
  const { folder, file } = log(t, { bytesMax: 100 });
  for (const [found, left] of [
    ['cut sho', 'cut sho\n'],
    ['whole\n', 'whole\n'],
    ['', ''],
  ] as const) {
    writeFileSync(join(folder, 'a.log'), found);
    file.append('line\n');
    await file.close();
    t.is(readFileSync(join(folder, 'a.log'), 'utf8'), `${left}line\n`);
  }
});
