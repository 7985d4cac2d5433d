// Which background loops run, as lists of their names say it.
import test from 'ava';
import { controllersProblem, runningControllers } from '../../../config/controllers.ts';

const ALL = runningControllers(['*']);
const without = (...names: readonly string[]) => ALL.filter((name) => !names.includes(name));

const rows: readonly (readonly [list: string, running: readonly string[]])[] = [
  ['*', ALL],
  ['', []],
  ['podgc', ['podgc']],
  ['namespace,podgc', ['namespace', 'podgc']],
  ['-podgc', []],
  ['*,-podgc', without('podgc')],
  ['-podgc,*,-namespace', without('podgc', 'namespace')],
  ['podgc,-podgc', ['podgc']],
  ['-podgc,podgc,*', without('podgc')],
  ['*,podgc,podgc', ALL],
  ['*,-deployment,-ttl', ALL],
];

for (const [list, running] of rows) {
  test(`--controllers ${JSON.stringify(list)} runs ${running.length} of them`, (t) => {
    const listed = list === '' ? [] : list.split(',');
    t.deepEqual(runningControllers(listed), running as typeof ALL);
    t.is(controllersProblem(listed), undefined);
  });
}

for (const unknown of ['deployments', '-deployments', '', '-', '-*', '**', 'Podgc', '--podgc']) {
  test(`${JSON.stringify(unknown)} is told to be none of them, and which there are`, (t) => {
    const problem = controllersProblem(['*', unknown]) ?? '';
    t.true(problem.startsWith(`--controllers: ${JSON.stringify(unknown)} is none of clusterrole-aggregation, `));
    t.true(ALL.every((name) => problem.includes(name)));
    t.false(problem.includes('\n'));
  });
}

test('a controller of the original that is not here can be switched off, and is refused with a line where it is to run', (t) => {
  t.is(controllersProblem(['*', '-deployment']), undefined);
  t.is(
    controllersProblem(['*', 'deployment']),
    '--controllers: "deployment" does not exist here: it can run beside this server, and be left out of the list',
  );
});
