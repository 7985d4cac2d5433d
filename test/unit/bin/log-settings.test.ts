// The files of a log, as they are begun before any thread is there.
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { logSettings } from '../../../bin/log-settings.ts';
import type { ServerOptions } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';

test('a log is begun where the name of a link to its newest file is something else, and the others lead there', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'orch.INFO', 'something'), { recursive: true });
  const parsed = parseArguments('up', ['--logtostderr=false', '--log-dir', folder]);
  const { files } = logSettings((parsed as { options: ServerOptions }).options, new Date());
  t.is(files?.paths.length, 4);
  t.deepEqual(readdirSync(join(folder, 'orch.INFO')), ['something']);
  const [, warnings] = files!.paths.map(([, path]) => path);
  t.is(join(folder, readlinkSync(join(folder, 'orch.WARNING'))), warnings!);
});
