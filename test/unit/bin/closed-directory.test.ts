// Goal: a data directory is nobody's but its owner's. Method: directories of other modes, owners and contents.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { closeDirectory, warnOfOwner } from '../../../bin/server/closed-directory.ts';

const OWN = process.geteuid?.() ?? 0;

function directory(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'closed-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

test('what group or others may touch is closed, the owner keeps what the owner had', (t) => {
  const path = directory(t);
  t.is(closeDirectory(path), undefined);
  chmodSync(path, 0o750);
  mkdirSync(join(path, 'store'));
  chmodSync(join(path, 'store'), 0o700);
  for (const [name, mode] of [
    ['open', 0o644],
    ['writable', 0o622],
    ['program', 0o755],
    ['closed', 0o600],
    ['read-only', 0o440],
  ] as const) {
    writeFileSync(join(path, 'store', name), '');
    chmodSync(join(path, 'store', name), mode);
  }
  t.is(closeDirectory(path), `${path} was open to other users: 5 of its files and folders are closed now`);
  t.is(modeOf(path), 0o700);
  t.is(modeOf(join(path, 'store', 'open')), 0o600);
  t.is(modeOf(join(path, 'store', 'program')), 0o700);
  t.is(modeOf(join(path, 'store', 'read-only')), 0o400);
  t.is(closeDirectory(path), undefined);
});

test('what a link leads to is left as it is, unless the link is the directory', (t) => {
  const path = directory(t);
  const elsewhere = directory(t);
  writeFileSync(join(elsewhere, 'file'), '');
  chmodSync(join(elsewhere, 'file'), 0o644);
  symlinkSync(join(elsewhere, 'file'), join(path, 'file'));
  symlinkSync(join(elsewhere, 'nothing'), join(path, 'broken'));
  t.is(closeDirectory(path), undefined);
  t.is(statSync(join(path, 'file')).mode & 0o777, 0o644);
  symlinkSync(elsewhere, join(path, 'data'));
  chmodSync(elsewhere, 0o755);
  t.is(closeDirectory(path), undefined);
  t.is(modeOf(elsewhere), 0o755);
  t.regex(closeDirectory(join(path, 'data')) ?? '', /: 2 of its/);
  t.is(modeOf(elsewhere), 0o700);
});

test('an open directory of another user is refused and not touched, a closed one is taken', (t) => {
  const path = directory(t);
  t.is(closeDirectory(path, OWN + 1), undefined);
  chmodSync(path, 0o777);
  t.throws(() => closeDirectory(path, OWN + 1), {
    message: new RegExp(`^the data directory ${path} belongs to user ${OWN} and is open to others \\(mode 777\\); `),
  });
  t.is(modeOf(path), 0o777);
});

test('an open directory that other users have files in is refused and not touched, and so is the root', (t) => {
  const path = directory(t);
  chmodSync(path, 0o1777);
  writeFileSync(join(path, 'theirs'), '');
  chmodSync(join(path, 'theirs'), 0o644);
  if (OWN === 0) {
    lchownSync(join(path, 'theirs'), 4711, 4711);
    const message = `the data directory ${path} holds files of user 4711 and is open to others (mode 777); `;
    t.true(t.throws(() => closeDirectory(path)).message.startsWith(message));
    t.is(statSync(path).mode & 0o7777, 0o1777);
    t.throws(() => closeDirectory('/'), {
      message: /^the data directory \/ is the root of all and is open to others /,
    });
    lchownSync(join(path, 'theirs'), 0, 0);
  }
  t.regex(closeDirectory(path) ?? '', /: 2 of its/);
});

test('a directory of another user is told of, since what root makes in it is no use to its owner', (t) => {
  const path = directory(t);
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  warnOfOwner(path, OWN, say);
  t.deepEqual(said, []);
  warnOfOwner(path, OWN + 1, say);
  t.regex(said.join('\n'), new RegExp(`^.*/closed-\\w+ belongs to user ${OWN}, and what .* to user ${OWN + 1}: `));
});

test('a folder that nobody but root may look into, as a file system has one, keeps no start', (t) => {
  const path = directory(t);
  mkdirSync(join(path, 'lost+found'), { mode: 0 });
  writeFileSync(join(path, 'open'), '');
  chmodSync(join(path, 'open'), 0o644);
  const uid = OWN === 0 ? 4711 : OWN;
  if (OWN === 0) for (const name of ['.', 'open']) lchownSync(join(path, name), uid, uid);
  // In a process of its own, which root gives up being root.
  const program = `
    const { closeDirectory } = await import(${JSON.stringify(new URL('../../../bin/server/closed-directory.js', import.meta.url).href)});
    if (process.geteuid() === 0) process.seteuid(${uid});
    process.stdout.write(closeDirectory(${JSON.stringify(path)}));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  t.regex(stdout, /: 1 of its files and folders are closed now$/, stderr);
});
