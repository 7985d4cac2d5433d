// The files of a log, as they are begun before any thread is there.
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { logSettings } from '../../../bin/log-settings.ts';
import type { ServerOptions } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';

function inFolder(t: ExecutionContext): { folder: string; options: ServerOptions } {
  const folder = mkdtempSync(join(tmpdir(), 'orch-log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { options } = parseArguments('up', ['--logtostderr=false', '--log-dir', folder]) as { options: ServerOptions };
  return { folder, options };
}

test('a log is begun where the name of a link to its newest file is something else, and the others lead there', (t) => {
  const { folder, options } = inFolder(t);
  mkdirSync(join(folder, 'orch.INFO', 'something'), { recursive: true });
  const { files } = logSettings(options, new Date());
  t.is(files?.paths.length, 4);
  t.deepEqual(readdirSync(join(folder, 'orch.INFO')), ['something']);
  const [, warnings] = files!.paths.map(([, path]) => path);
  t.is(join(folder, readlinkSync(join(folder, 'orch.WARNING'))), warnings!);
});

test('a process whose user the system has no name for logs to files all the same', (t) => {
  const { options } = inFolder(t);
  const { files } = logSettings(options, new Date(), () => {
    throw new Error('uv_os_get_passwd returned ENOENT (no such file or directory)');
  });
  const names = files!.paths.map(([, path]) => basename(path));
  t.is(names.length, 4);
  for (const name of names) t.regex(name, /\.unknownuser\.log\.(?:INFO|WARNING|ERROR|FATAL)\./);
});

test('the least severity for standard error is said in any of its words, large or small, or by its number', (t) => {
  const { folder } = inFolder(t);
  const from = (threshold: string) => {
    const given = ['--logtostderr=false', '--log-dir', folder, '--stderrthreshold', threshold];
    return logSettings((parseArguments('up', given) as { options: ServerOptions }).options, new Date()).files
      ?.stderrFrom;
  };
  for (const warning of ['warning', 'WARNING', '1']) t.is(from(warning), 'W', warning);
});
