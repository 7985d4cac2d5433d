// Goal: a command line is either understood or answered with one clear line. Method: tables.
import test from 'ava';
import { type BenchOptions, madeKind, parseCommandLine, UsageError, usage } from '../../../bench/options.ts';

const lines: readonly (readonly [argv: string, workloads: readonly string[], options: BenchOptions])[] = [
  ['create', ['create'], {}],
  ['create get --connections 8', ['create', 'get'], { connections: 8 }],
  ['--seconds=0.5 watch --rate 12.5', ['watch'], { seconds: 0.5, rate: 12.5 }],
  ['watch --duration 3 --stalled 5 --http2', ['watch'], { duration: 3, seconds: 3, stalled: 5, http2: true }],
  ['update --patch --json', ['update'], { patch: true, json: true }],
  ['create --kind pod --floor no', ['create'], { kind: 'pod', floor: 'no' }],
  ['get --url https://127.0.0.1:1 --token t --pid 7', ['get'], { url: 'https://127.0.0.1:1', token: 't', pid: 7 }],
  ['get --beside table,yaml', ['get'], { beside: 'table,yaml' }],
  ['get --server-option a=1 --server-option b', ['get'], { 'server-option': ['a=1', 'b'] }],
];

for (const [argv, workloads, options] of lines) {
  test(`understands "${argv}"`, (t) => {
    const parsed = parseCommandLine(argv.split(' '));
    t.deepEqual(parsed.workloads, workloads);
    t.deepEqual({ ...parsed.options }, options);
  });
}

const refused: readonly (readonly [argv: string, says: RegExp])[] = [
  ['create --conections 8', /conections/],
  ['create --connections', /connections/],
  ['create --connections 0', /--connections takes a whole number above 0/],
  ['create --connections 1.5', /--connections takes a whole number above 0/],
  ['create --seconds=-1', /--seconds takes a number above 0/],
  ['create --seconds x', /--seconds takes a number above 0/],
  ['create --seconds Infinity', /--seconds takes a number above 0/],
  ['watch --rate=-1', /--rate takes a number of 0 or more/],
  ['watch --rate=', /--rate takes a number of 0 or more/],
  ['create --seconds 99999', /--seconds is at most/],
  ['create --count 99999999999', /--count is at most/],
  ['watch --watchers 99999', /--watchers and --stalled are at most/],
  ['create --kind secret', /--kind is one of configmap, pod, deployment/],
  ['create --floor maybe', /--floor is yes or no/],
  ['get --url http://localhost --kubeconfig f', /exclude each other/],
  ['get --token t', /--token goes with --url/],
  ['get --pid 1', /--pid goes with/],
  ['get --allow-remote', /--allow-remote goes with/],
];

for (const [argv, says] of refused) {
  test(`refuses "${argv}"`, (t) => {
    t.throws(() => parseCommandLine(argv.split(' ')), { instanceOf: UsageError, message: says });
  });
}

test('the help page names every workload and option', (t) => {
  const page = usage([{ name: 'create', summary: 'makes things' }]);
  for (const words of ['create', 'makes things', '--seconds', '--placement', '--server-option', '--json']) {
    t.true(page.includes(words), words);
  }
});

test('what is only made or deleted is a config map or a pod', (t) => {
  t.is(madeKind({}, 'pod'), 'pod');
  t.is(madeKind({ kind: 'configmap' }, 'pod'), 'configmap');
  t.throws(() => madeKind({ kind: 'deployment' }, 'pod'), { message: '--kind is one of configmap, pod' });
});
