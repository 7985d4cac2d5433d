// Priority levels with few seats on a real server: made for some users, filled by writes whose bodies are late, and looked at.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as startRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiObject } from '../server/https-client.ts';
import type { Scope, ServerProcess } from '../server/server-process.ts';
import { configMap, eventually, type Namespace } from './objects.ts';

const FLOWS = '/apis/flowcontrol.apiserver.orch.io/v1beta1';
export const SCHEMAS = `${FLOWS}/flowschemas`;
export const LEVELS = `${FLOWS}/prioritylevelconfigurations`;
export const DUMPS = '/debug/api_priority_and_fairness';
const ANYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
/** Of every level that is made here; each flow waits in one of them. */
export const QUEUES = 64;

/** A file of the operator's, for as long as the test.*/
export function operatorFile(scope: Scope, name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-flows-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Arguments of a server whose levels have one seat each: in it everybody may do everything. */
export const oneSeat = (scope: Scope, users: readonly string[]): readonly string[] => [
  ...['--max-requests-inflight', '1', '--max-mutating-requests-inflight', '0', '--authorization-mode', 'AlwaysAllow'],
  // A quarter of it is how long a request may wait for a seat: longer than a busy machine takes to bring all of them there.
  ...['--request-timeout', '20m'],
  ...[
    '--token-auth-file',
    operatorFile(scope, 'tokens.csv', users.map((name) => `${name},${name},${name}\n`).join('')),
  ],
];

export async function made({ client }: ServerProcess, path: string, body: object): Promise<ApiObject> {
  const answer = await client.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json;
}

interface LevelOptions {
  readonly users: readonly string[];
  readonly queueLengthLimit?: number;
  readonly rejects?: true;
}

/** A level and a schema of one name, for some users; resolves when requests go by it. */
export async function level(
  server: ServerProcess,
  name: string,
  { users, queueLengthLimit = 50, rejects }: LevelOptions,
): Promise<void> {
  const queuing = { queues: QUEUES, handSize: 1, queueLengthLimit };
  const limitResponse = rejects ? { type: 'Reject' } : { type: 'Queue', queuing };
  const limited = { assuredConcurrencyShares: 1, limitResponse };
  const { metadata } = await made(server, LEVELS, { metadata: { name }, spec: { type: 'Limited', limited } });
  await made(server, SCHEMAS, schema(name, users));
  for (const token of users) {
    await eventually(
      () => server.client.get('/api/v1/namespaces/default', { token }),
      ({ headers }) => headers['x-orch-pf-prioritylevel-uid'] === metadata.uid,
    );
  }
}

export function schema(name: string, users: readonly string[], level = name): object {
  const subjects = users.map((user) => ({ kind: 'User', user: { name: user } }));
  return {
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: 50,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects, resourceRules: [ANYTHING], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }],
    },
  };
}

/** What a body brings while it is late: as much in so long a time that no listener takes it for one that stands still. */
const DRIP_BYTES = 160 * 1024;
const DRIP_MS = 4000;
/** So often, for a body has a limit. */
const DRIPS_MAX = 18;

interface LateWrite {
  /** The code; 0 where there is none. */
  readonly answered: Promise<number>;
  isAnswered(): boolean;
  finish(): void;
  abort(): void;
}

let lateWrites = 0;

/** A write that has a seat as soon as there is one, and gives it back when it is finished. On a busy machine that takes a while. */
export function lateWrite({ url, caPem }: ServerProcess, { configMaps }: Namespace, token: string): LateWrite {
  const body = JSON.stringify(configMap({ name: `late-${++lateWrites}` }));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const outgoing = startRequest(`${url}${configMaps}`, { method: 'POST', ca: caPem, agent: false, headers });
  let isOver = false;
  const answered = new Promise<number>((resolve) => {
    const over = (code: number): void => {
      isOver = true;
      clearInterval(dripping);
      resolve(code);
    };
    outgoing.on('error', () => over(0));
    outgoing.on('response', (message) => {
      message.resume();
      over(message.statusCode ?? 0);
    });
  });
  let drips = 0;
  const dripping = setInterval(() => {
    if (drips++ < DRIPS_MAX) outgoing.write(' '.repeat(DRIP_BYTES));
  }, DRIP_MS);
  outgoing.write(body.slice(0, 1));
  const finish = (): void => {
    clearInterval(dripping);
    outgoing.end(body.slice(1));
  };
  const abort = (): void => {
    clearInterval(dripping);
    outgoing.destroy();
  };
  return { answered, isAnswered: () => isOver, finish, abort };
}

/** The cells of a dump's rows about one level. */
export async function dump(
  { client }: ServerProcess,
  what: string,
  name: string,
): Promise<readonly (readonly string[])[]> {
  const { status, text } = await client.get(`${DUMPS}/${what}`);
  if (status !== 200) throw new Error(text);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/, */))
    .filter(([first]) => first === name);
}

/** Resolves when so many requests of a level run and wait. */
export async function state(server: ServerProcess, name: string, running: number, waiting: number): Promise<void> {
  await eventually(
    () => dump(server, 'dump_priority_levels', name),
    ([row]) => row?.[5] === String(running) && row[4] === String(waiting),
  );
}
