// Goal: a command of its own syntax takes a flag with a value as every other command does.
import test from 'ava';
import { takeFlag } from '../../../bin/command-line/taken-flag.ts';

test('a flag has its value behind it or behind an equals sign, wherever it stands', (t) => {
  for (const argv of [
    ['--pod', 'shop/web', 'a', 'b'],
    ['a', '--pod=shop/web', 'b'],
    ['a', 'b', '--pod', 'shop/web'],
  ]) {
    t.deepEqual(takeFlag(argv, '--pod', 'usage'), { value: 'shop/web', rest: ['a', 'b'] });
  }
  t.deepEqual(takeFlag(['a', '--pods'], '--pod', 'usage'), { value: undefined, rest: ['a', '--pods'] });
  t.deepEqual(takeFlag(['--pod='], '--pod', 'usage'), { value: '', rest: [] });
});

test('a flag without its value is answered with the usage', (t) => {
  t.throws(() => takeFlag(['a', '--pod'], '--pod', 'usage: x'), { message: 'usage: x' });
});
