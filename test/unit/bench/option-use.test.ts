// Goal: an option that a workload does not look at is refused with a line, and none that it looks at. Method: the table beside what
// the workloads' files read.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { requireHeeded } from '../../../bench/option-use.ts';
import { parseCommandLine, UsageError } from '../../../bench/options.ts';

const refused: readonly (readonly [argv: string, says: string])[] = [
  ['create --watchers 5', 'create does not heed --watchers'],
  ['delete --seconds 2', 'delete does not heed --seconds'],
  ['create --svg a.svg', 'create does not heed --svg'],
  ['create get --rows get', 'create, get does not heed --rows'],
  ['codec --url https://127.0.0.1:1', 'codec does not heed --url'],
  ['create --bare --placement single', 'create --bare does not heed --placement'],
  ['get --bare --url https://127.0.0.1:1', 'get --bare does not heed --url'],
  ['list --bare', 'list does not heed --bare'],
  ['get --workload list', 'get does not heed --workload'],
];
for (const [argv, says] of refused) {
  test(`refuses "${argv}"`, (t) => {
    const { workloads, options } = parseCommandLine(argv.split(' '));
    t.throws(() => requireHeeded(workloads, options), { instanceOf: UsageError, message: says });
  });
}

const taken = [
  'create get --watchers 5 watch',
  'get --seconds 2 --json --floor no',
  'create --bare --kind pod',
  'profile create --svg a.svg --kind pod',
  // Which says itself that it has servers of its own.
  'start --url https://127.0.0.1:1',
];
for (const argv of taken) {
  test(`takes "${argv}"`, (t) => {
    const { workloads, options } = parseCommandLine(argv.split(' '));
    t.notThrows(() => requireHeeded(workloads, options));
  });
}

const SAMPLES: Readonly<Record<string, unknown>> = { protobuf: true, patch: true, http2: true, bare: true };
const workloads = readdirSync('bench/workloads').map((file) => readFileSync(`bench/workloads/${file}`, 'utf8'));
for (const text of workloads) {
  const name = /^ {2}name: '(\w+)',$/m.exec(text)?.[1];
  if (name === undefined) continue;
  test(`each option that ${name} reads is taken`, (t) => {
    const destructured = [...text.matchAll(/const \{([^}]*)\} = bench\.options/g)].flatMap(([, names = '']) =>
      names.split(',').map((part) => part.trim().split(/[:= ]/, 1)[0]!),
    );
    const read = [...text.matchAll(/\boptions\.([a-z]\w*)/g)].map(([, option = '']) => option);
    const options = [...destructured, ...read].filter((option) => option !== 'ts' && option !== 'map');
    for (const option of options) t.notThrows(() => requireHeeded([name], { [option]: SAMPLES[option] ?? 1 }), option);
    t.throws(() => requireHeeded([name], { workload: 'get' }), { message: `${name} does not heed --workload` });
  });
}
