// Goal: what is offered at a place of a command line is what fits there, and a shell that is taught to ask shows it.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { COMPLETION_SCRIPTS, candidateLines } from '../../../config/completion-scripts.ts';
import { completionsOf, nearestCommand } from '../../../config/completions.ts';
import { programOptions } from '../../../config/options.ts';

const run = promisify(execFile);

/** What the words may go on as, and `files` where those of the file system fit. */
function offered(...words: string[]): readonly string[] {
  const { candidates, files } = completionsOf(words);
  return [...candidates.map(({ text }) => text), ...(files ? ['files'] : [])];
}

const CASES: readonly (readonly [what: string, words: readonly string[], expected: readonly string[]])[] = [
  ['a beginning of several commands', ['sch'], ['scheduler', 'schedule']],
  ['a command of two words', ['store', 're'], ['reencrypt', 'repair', 'restore']],
  ['nothing behind a command that there is not', ['stor', ''], []],
  ['nothing behind a second word that there is not', ['store', 'chec', ''], []],
  ['files for an argument that is one', ['store', 'check', ''], ['files']],
  ['words for an argument that has some', ['completion', ''], ['bash', 'zsh', 'fish']],
  ['flags of a command of its own syntax', ['top', ''], ['--once']],
  ['commands to have help of', ['help', 'ver'], ['version']],
  ['options by their beginning', ['up', '--ingr'], ['--ingress']],
  ['options behind a value', ['up', '--ingress', 'uws', '--data-d'], ['--data-dir']],
  ['options behind a switch, which takes no value', ['up', '--profiling', '--data-d'], ['--data-dir']],
  ['the values of an option', ['up', '--ingress', ''], ['auto', 'uws', 'node']],
  ['a value by its beginning', ['apiserver', '--ingress', 'n'], ['node']],
  ['values behind an equals sign', ['up', '--ingress=u'], ['--ingress=uws']],
  ['what a switch may be', ['up', '--profiling=f'], ['--profiling=false']],
  ['the next of a list', ['apiserver', '--authorization-mode', 'RBAC,No'], ['RBAC,Node']],
  ['files for an option that is a path, behind an equals sign', ['up', '--data-dir='], ['files']],
  ['files for a path by another of its names', ['up', '--etcd-cafile='], ['files']],
  ['nothing for an option that there is not', ['up', '--nonsense='], []],
  ['programs, whose options are looked at', ['check-config', 'up'], ['up']],
  [
    'options of the program that is looked at',
    ['check-config', 'scheduler', '--leader-elect-ret'],
    ['--leader-elect-retry-period'],
  ],
];

for (const [what, words, expected] of CASES) {
  test(`offered: ${what} (orch ${words.join(' ')})`, (t) => {
    t.deepEqual(offered(...words), expected);
  });
}

test('every option of a program is offered that is not deprecated, each with what it does', (t) => {
  const { candidates } = completionsOf(['apiserver', '--']);
  const expected = programOptions('apiserver').filter(({ deprecated }) => deprecated === undefined);
  t.deepEqual(
    candidates.map(({ text }) => text),
    expected.map(({ name }) => `--${name}`),
  );
  t.true(candidates.every(({ description }) => description !== '' && !/[@\t\n]/.test(description)));
});

test('a command says what it does, and a word that several begin with what none of them does alone', (t) => {
  const [store] = completionsOf(['stor']).candidates;
  const [version] = completionsOf(['vers']).candidates;
  t.deepEqual([store?.description, version?.description.startsWith('Print the versions')], ['', true]);
});

test('the command that is nearest to one that there is not is named', (t) => {
  t.is(nearestCommand(['upp']), 'up');
  t.is(nearestCommand(['store', 'chek']), 'store check');
  t.is(nearestCommand(['nonsense']), undefined);
});

test('a script reads a line for each candidate, and one for files', (t) => {
  const candidates = [
    { text: 'a', description: 'does it' },
    { text: 'b', description: '' },
  ];
  t.is(candidateLines({ candidates, files: true }), 'a\tdoes it\nb\n:files\n');
});

/** What bash, taught by the script, puts in place of the last word of the line. `orch` answers the lines. */
async function completedByBash(line: string, lines: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'completions-'));
  try {
    const program = join(folder, 'orch');
    await writeFile(program, `#!/bin/sh\ncat <<'END'\n${lines}END\n`);
    await chmod(program, 0o755);
    await writeFile(join(folder, 'some file'), '');
    const typed = `orch ${line}`;
    const script = `${COMPLETION_SCRIPTS.bash}COMP_LINE='${typed}' COMP_POINT=${typed.length} _orch\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`;
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const { stdout } = await run('bash', ['-c', script], { cwd: folder, env });
    return stdout.split('\n').slice(0, -1);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('bash shows the candidates without what they do, behind an equals sign the value alone, and files as they are called', async (t) => {
  t.deepEqual(await completedByBash('s', 'scheduler\tRun it\nschedule\n'), ['scheduler', 'schedule']);
  t.deepEqual(await completedByBash('up --ingress=u', '--ingress=uws\n'), ['uws']);
  t.deepEqual(await completedByBash('store check some', ':files\n'), ['some file']);
  t.deepEqual(await completedByBash('up --data-dir=some', ':files\n'), ['some file']);
});
