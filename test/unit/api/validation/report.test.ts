// A run's errors are bounded, and so is the work of making them.
import test from 'ava';
import { Report } from '../../../../api/validation/report.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { settings } from './objects.ts';

test('values of errors that are not kept are not looked at', (t) => {
  const report = new Report(DIALECTS.orch, settings(DIALECTS.orch));
  report.begin({});
  let looks = 0;
  const value = {
    get member(): string {
      looks++;
      return 'a';
    },
  };
  for (let i = 0; i < 5000; i++) report.invalid('spec', value, 'always');
  const kept = report.end().length;
  t.is(looks, kept);
  t.true(kept < 5000);
});

test('a run after a full one begins with room', (t) => {
  const report = new Report(DIALECTS.orch, settings(DIALECTS.orch));
  report.begin({});
  for (let i = 0; i < 5000; i++) report.required('spec');
  report.end();
  report.begin({});
  report.addAll([{ path: 'a', reason: 'FieldValueRequired', message: 'Required value' }]);
  report.required('b');
  t.deepEqual(
    report.end().map(({ path }) => path),
    ['a', 'b'],
  );
});
