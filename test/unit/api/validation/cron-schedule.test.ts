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
  '1,,2 ,3 4, * *',
  ', * * * *',
  '*-5 ?-1-x * * *',
  '+5 007 * * *',
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
  '@every 1h30m',
  '@every 0',
  '@every -5m',
  'TZ=UTC 0 0 * * *',
  'TZ= 0 0 * * *',
  'TZ=Etc/GMT+5 0 0 * * *',
  'CRON_TZ=Asia/Tokyo 0 0 * * *',
  'TZ=Europe/Rome @daily',
  '  0 0 * * *  ',
];

const NO_SCHEDULES: readonly (readonly [text: string, problem: string])[] = [
  ['', 'expected exactly 5 fields, found 0: []'],
  ['* * *  *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['60/2 * * * *', 'beginning of range (60) beyond end of range (59): 60/2'],
  ['* 24 * * *', 'end of range (24) above maximum (23): 24'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * 13 *', 'end of range (13) above maximum (12): 13'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['* * * * fri-mon', 'beginning of range (5) beyond end of range (1): fri-mon'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['*/x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['mon * * * *', 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  [
    `${'9'.repeat(19)} * * * *`,
    `failed to parse int from ${'9'.repeat(19)}: strconv.Atoi: parsing "${'9'.repeat(19)}": value out of range`,
  ],
  ['@never', 'unrecognized descriptor: @never'],
  ['@Daily', 'unrecognized descriptor: @Daily'],
  ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
  ['@every  5m', 'failed to parse duration @every  5m: time: invalid duration " 5m"'],
  ['TZ=Nowhere/Land 0 0 * * *', 'provided bad location Nowhere/Land: unknown time zone Nowhere/Land'],
  ['TZ=+01:00 0 0 * * *', 'provided bad location +01:00: unknown time zone +01:00'],
  ['TZ=UTC', 'a time zone must be followed by a schedule'],
  ['*'.repeat(2000), 'must have at most 1024 characters'],
];

for (const text of SCHEDULES) {
  test(`${JSON.stringify(text)} is a schedule`, (t) => {
    t.is(scheduleProblem(text), undefined);
  });
}

for (const [text, problem] of NO_SCHEDULES) {
  test(`${JSON.stringify(text.slice(0, 40))} is no schedule`, (t) => {
    t.is(scheduleProblem(text), problem);
  });
}
