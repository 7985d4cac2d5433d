// Which releases of Node a command runs on, and that npm is told the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { releaseProblem } from '../../../bin/node-release.ts';
import { ROOT } from '../source-tree.ts';

const RUNS = ['20.19.0', '20.20.2', '22.2.0', '22.23.5', '23.0.0', '24.22.3', '30.0.0'];
const LACKING = ['16.20.0', '18.20.4', '20.18.3', '21.7.3', '22.0.0', '22.1.0'];

test('a release of Node that lacks what is called is told so in one line, before anything else fails', (t) => {
  for (const release of RUNS) t.is(releaseProblem(release), undefined, release);
  for (const release of LACKING) {
    t.is(
      releaseProblem(release),
      `Node ${release} does not have all that is needed: use 20.19 or newer of 20, 22.2 or newer of 22, or a later version`,
    );
  }
});

test('npm is told of the same releases', (t) => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
  t.is(engines.node, '^20.19.0 || >=22.2.0');
});
