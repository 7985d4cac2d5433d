// Which texts are schedules of cron jobs.
import test from 'ava';
import { scheduleProblem } from '../../../../api/validation/cron-schedule.ts';

const SCHEDULES = [
  '* * * * *',
  '*/5 * * * *',
  '0 0 1 1 ?',
  '0,30 1-5/2 1,15 JAN,jul mon-fri',
  '59 23 31 12 6',
  '1/10 * * * *',
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
  '@every 1h30m',
  'TZ=UTC 0 0 * * *',
  'CRON_TZ=Asia/Tokyo 0 0 * * *',
  'TZ=Europe/Rome @daily',
  '  0 0 * * *  ',
];

const NO_SCHEDULES: readonly (readonly [text: string, problem: RegExp])[] = [
  ['', /5 fields, found 1/],
  ['* * * *', /5 fields, found 4/],
  ['* * * * * *', /5 fields, found 6/],
  ['60 * * * *', /minute: 60 is above 59/],
  ['* 24 * * *', /hour/],
  ['* * 0 * *', /day of month: 0 is below 1/],
  ['* * * 13 *', /month/],
  ['* * * * 7', /day of week/],
  ['5-1 * * * *', /begins beyond its end/],
  ['1-2-3 * * * *', /too many hyphens/],
  ['1/2/3 * * * *', /too many slashes/],
  ['*/0 * * * *', /must be positive/],
  ['*/x * * * *', /is no number/],
  ['x * * * *', /is no number/],
  ['-1 * * * *', /is no number/],
  [', * * * *', /is no number/],
  ['*-5 * * * *', /is no range/],
  ['@never', /unrecognized descriptor/],
  ['@every soon', /unrecognized descriptor/],
  ['TZ=Nowhere/Land 0 0 * * *', /unknown time zone/],
  ['TZ=UTC', /followed by a schedule/],
  ['*'.repeat(2000), /at most 1024 characters/],
];

for (const text of SCHEDULES) {
  test(`${JSON.stringify(text)} is a schedule`, (t) => {
    t.is(scheduleProblem(text), undefined);
  });
}

for (const [text, problem] of NO_SCHEDULES) {
  test(`${JSON.stringify(text.slice(0, 40))} is no schedule`, (t) => {
    t.regex(scheduleProblem(text) ?? '', problem);
  });
}
