// What a bench takes a log to tell of, and what it makes of requests that are missing there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { answeredIn, withUnrecorded } from '../../../bench/figures/audit-log.ts';
import type { LoadResult } from '../../../bench/load-protocol.ts';

const RESULT = { operations: 5, errors: 0 } as LoadResult;

test('answered requests are counted in all files of a log, and in no others', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-audit-log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const event = (stage: string): string => `{"kind":"Event","stage":"${stage}"}\n`;
  const both = event('RequestReceived') + event('ResponseComplete');
  writeFileSync(join(folder, 'audit.log'), both);
  writeFileSync(join(folder, 'audit-2026-01-01T00-00-00.000.log'), both + both);
  writeFileSync(join(folder, 'policy.json'), event('ResponseComplete'));
  t.is(await answeredIn(folder), 3);
});

test('requests that are not in the log are errors; others that are there are none', (t) => {
  t.deepEqual(withUnrecorded(RESULT, 5), RESULT);
  t.is(withUnrecorded(RESULT, 9), RESULT);
  t.like(withUnrecorded(RESULT, 3), { errors: 2, firstError: '2 of 5 requests are not in the log' });
});
