import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { idleEnvironment, idleFields, schedulerConfiguration } from '../../../bin/files/scheduler-configuration.ts';
import { parseArguments } from '../../../config/parse.ts';

const CASES: readonly [title: string, text: string, said: RegExp | undefined][] = [
  ['what changes nothing is named', 'parallelism: 4\nenableContentionProfiling: true\n', /parallelism .*contention/i],
  ['one of them alone is', '{"enableContentionProfiling": true}', /: not in force: enableContentionProfiling \(/],
  ['the value that is meant anyway is not', 'parallelism: 16\nenableContentionProfiling: false\n', undefined],
  ['a file that cannot be read is told of elsewhere', '{"parallelism":', undefined],
  ['nor is one that is no object', '- 1\n', undefined],
];

for (const [title, text, said] of CASES) {
  test(`of a scheduler's configuration file, ${title}`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-scheduler-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'config.yaml');
    writeFileSync(file, text);
    if (said === undefined) t.is(idleFields(file, false), undefined);
    else t.regex(idleFields(file, false) ?? '', said);
  });
}

test('a server says which fields of the file only a scheduler of its own goes by', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-scheduler-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config.yaml');
  writeFileSync(file, 'leaderElection: {leaderElect: true}\nclientConnection: {qps: 50}\nparallelism: 4\n');
  t.regex(
    idleFields(file, true) ?? '',
    /: not in force: parallelism \(.*\), clientConnection, leaderElection \(for orch scheduler alone\)$/,
  );
  t.notRegex(idleFields(file, false) ?? '', /leaderElection/);
});

test('without a configuration file nothing is said of it', (t) => {
  t.is(idleFields('', true), undefined);
  t.is(idleFields('/nonexistent/config.yaml', true), undefined);
});

test('the environment may say how many built-in disks a node attaches', (t) => {
  const parsed = parseArguments('scheduler', []);
  if (parsed.action !== 'run') return t.fail();
  const heeded = (text: string) => {
    process.env.KUBE_MAX_PD_VOLS = text;
    return schedulerConfiguration(parsed.options).gates.builtInDisksMax;
  };
  t.teardown(() => delete process.env.KUBE_MAX_PD_VOLS);
  t.deepEqual(['7', '', '0', '-1', 'many'].map(heeded), [7, undefined, undefined, undefined, undefined]);
  t.is(idleEnvironment({ KUBE_MAX_PD_VOLS: '7' }), undefined);
  t.is(idleEnvironment({}), undefined);
  t.is(
    idleEnvironment({ ORCH_MAX_PD_VOLS: '0' }),
    'ORCH_MAX_PD_VOLS in the environment: not in force, since "0" is no whole number above 0',
  );
});

test('gates say which built-in disks a node may leave to a CSI driver', (t) => {
  const migrated = (gates: string) => {
    const parsed = parseArguments('scheduler', ['--feature-gates', gates]);
    return parsed.action === 'run' ? schedulerConfiguration(parsed.options).gates.migratedDisks : undefined;
  };
  t.deepEqual(migrated(''), ['cinder']);
  t.deepEqual(migrated('CSIMigrationAWS=true,CSIMigrationOpenStack=false'), ['aws-ebs']);
  t.deepEqual(migrated('CSIMigrationGCE=true,CSIMigrationAzureDisk=true,CSIMigration=false'), []);
});

test('gates say whether local storage, and what drivers say of their room, count', (t) => {
  const gated = (gates: string) => {
    const parsed = parseArguments('scheduler', ['--feature-gates', gates]);
    if (parsed.action !== 'run') return undefined;
    const { countsLocalStorage, heedsStorageCapacity } = schedulerConfiguration(parsed.options).gates;
    return [countsLocalStorage, heedsStorageCapacity];
  };
  t.deepEqual(gated(''), [true, true]);
  t.deepEqual(gated('LocalStorageCapacityIsolation=false'), [false, true]);
  t.deepEqual(gated('CSIStorageCapacity=false'), [true, false]);
});

function optionsOf(file: string) {
  const parsed = parseArguments('up', ['--config', file]);
  if (parsed.action !== 'run') throw new Error(parsed.action);
  return parsed.options;
}

const FILE = 'apiVersion: kubescheduler.config.k8s.io/v1beta1\nkind: KubeSchedulerConfiguration\n';

test('a configuration that comes through a pipe is there for all that look at it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-scheduler-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', [
    '-c',
    'printf %s "$1" > "$0"',
    pipe,
    `${FILE}podMaxBackoffSeconds: 77\nparallelism: 4\n`,
  ]);
  t.teardown(() => void writer.kill());
  t.regex(idleFields(pipe, true) ?? '', /parallelism/);
  t.is(schedulerConfiguration(optionsOf(pipe)).podMaxBackoffMs, 77_000);
});

test('a member that is there twice in a configuration is refused, as everywhere', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-scheduler-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `${FILE}profiles: [{ schedulerName: a }]\nprofiles: [{ schedulerName: b }]\n`);
  t.throws(() => schedulerConfiguration(optionsOf(file)), {
    message: `${file}: profiles is there more than once in a mapping`,
  });
});
