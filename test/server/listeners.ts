// The listeners that tests of a server run on, one after the other.
import ava, { type TestFn } from 'ava';
import { testNeeding } from './machine-tools.ts';

export type ListenerName = 'uws' | 'node';

export const LISTENERS: readonly ListenerName[] = ['uws', 'node'];

/** `test` for what is tested on that listener: skipped where there is none, with a line that says so. */
export function testOn(listener: ListenerName, test: TestFn = ava): TestFn {
  return listener === 'uws' ? testNeeding(test, ['uws']) : test;
}
