// Where a path that nobody serves is answered by a Status, and where by a text.
import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { answerNothingThere } from '../../../../actors/ingress/paths/nothing-there.ts';
import type { Registry } from '../../../../api/resources/registry.ts';
import { isStatusError } from '../../../../api/status/status.ts';

const VERSIONS: Readonly<Record<string, readonly string[]>> = { '': ['v1'], apps: ['v1'], 'example.com': ['v1', 'v2'] };
const TYPES = [{ group: '' }, { group: 'apps' }, { group: 'example.com', custom: {} }];
const registry = { servedVersions: (group: string) => VERSIONS[group] ?? [], all: () => TYPES } as unknown as Registry;

function answered(group: string, version: string): unknown {
  const sent: unknown[] = [];
  const exchange = { answer: (code: number, _headers: unknown, body: unknown) => void sent.push([code, body]) };
  try {
    answerNothingThere(exchange as unknown as Exchange, registry, group, version);
  } catch (error) {
    return isStatusError(error) ? error.status.reason : error;
  }
  return sent[0];
}

const TEXT = [404, '404 page not found\n'];

for (const [group, version, expected] of [
  ['', 'v1', 'NotFound'],
  ['', 'v2', 'NotFound'],
  ['apps', 'v9', 'NotFound'],
  ['example.com', 'v2', 'NotFound'],
  ['example.com', 'v9', TEXT],
  ['example.com', '', TEXT],
  ['nobody.io', 'v1', TEXT],
  ['nobody.io', '', TEXT],
] as const) {
  test(`of ${group || 'the core group'} ${version || 'without a version'} it is told ${expected === TEXT ? 'by a text' : 'by a Status'} that nothing is there`, (t) => {
    t.deepEqual(answered(group, version), expected);
  });
}
