// Which background loops run, as lists of their names say it.
import test from 'ava';
import { CONTROLLER_NAMES, controllersProblem, runningControllers } from '../../../config/controllers.ts';

const without = (...names: readonly string[]) => CONTROLLER_NAMES.filter((name) => !names.includes(name));

const rows: readonly (readonly [list: string, running: readonly string[]])[] = [
  ['*', CONTROLLER_NAMES],
  ['', []],
  ['podgc', ['podgc']],
  ['namespace,podgc', ['namespace', 'podgc']],
  ['-podgc', []],
  ['*,-podgc', without('podgc')],
  ['-podgc,*,-namespace', without('podgc', 'namespace')],
  ['podgc,-podgc', ['podgc']],
  ['-podgc,podgc,*', without('podgc')],
  ['*,podgc,podgc', CONTROLLER_NAMES],
];

for (const [list, running] of rows) {
  test(`--controllers ${JSON.stringify(list)} runs ${running.length} of them`, (t) => {
    const listed = list === '' ? [] : list.split(',');
    t.deepEqual(runningControllers(listed), running as typeof CONTROLLER_NAMES);
    t.is(controllersProblem(listed), undefined);
  });
}

for (const unknown of ['deployment', '-deployment', '', '-', '-*', '**', 'Podgc', '--podgc']) {
  test(`${JSON.stringify(unknown)} is told to be none of them, and which there are`, (t) => {
    const problem = controllersProblem(['*', unknown]) ?? '';
    t.true(problem.startsWith(`--controllers: ${JSON.stringify(unknown)} is none of clusterrole-aggregation, `));
    t.true(CONTROLLER_NAMES.every((name) => problem.includes(name)));
    t.false(problem.includes('\n'));
  });
}
