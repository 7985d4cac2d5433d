// Files of operators: what is wrong with one is a line that names it.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { operatorContent, operatorText } from '../../../bin/files/operator-file.ts';

function contentOf(t: ExecutionContext, text: string): () => unknown {
  const folder = mkdtempSync(join(tmpdir(), 'orch-operator-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'settings.yaml');
  writeFileSync(path, text);
  return () => operatorContent(path, 'the settings');
}

test('a file in YAML or JSON is read', (t) => {
  t.deepEqual(contentOf(t, 'kind: Policy\nrules: [{ level: None }]\n')(), {
    kind: 'Policy',
    rules: [{ level: 'None' }],
  });
  t.deepEqual(contentOf(t, '{"kind":"Policy"}')(), { kind: 'Policy' });
});

test('what a pipe is given is there for every part of a start that looks at it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-operator-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const writer = spawn('sh', ['-c', 'echo one > "$0"', path], { stdio: 'ignore' });
  t.teardown(() => void writer.kill());
  t.is(operatorText(path), 'one\n');
  t.is(operatorText(path), 'one\n');
});

test('a member that is there twice is refused: which of them counts would be said by nobody', (t) => {
  const message = /^the settings \/.+\/settings\.yaml: level is there more than once in a mapping$/;
  t.throws(contentOf(t, 'rules:\n  - level: None\n    level: Metadata\n'), { message });
  t.notThrows(contentOf(t, 'rules:\n  - level: None\n  - level: Metadata\n'));
});

test('so is one in JSON, told by its path', (t) => {
  const message = /^the settings \/.+\/settings\.yaml: rules\[0\]\.level is there more than once in a mapping$/;
  t.throws(contentOf(t, ' {"rules":[{"level":"None","users":["a"],"level":"Metadata"}]}'), { message });
  t.notThrows(contentOf(t, '{"rules":[{"level":"None"},{"level":"Metadata"}]}'));
});

test('a file that never ends is refused', (t) => {
  t.throws(() => operatorContent('/dev/zero', 'the settings'), {
    message: 'the settings /dev/zero cannot be read (it does not end within 256 MiB)',
  });
});
