// `npm run audit-load -- [--events N]`: many requests, each with one audit event, to a log that is put aside as it fills and to a webhook
// that fails half the time. Blocking: each event is there exactly once. In batches: what is not there was counted as dropped, and a
// server that is killed has lost no more than a batch. A line each; the exit code says whether all held.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bench } from '../../bench/bench.ts';
import { readConnectionFile } from '../../bench/server/kubeconfig.ts';
import { readCommandLine } from '../command-line.ts';
import { eventually } from '../integration/objects.ts';
import { connectionFile, httpsService, jsonOf } from '../server/credentials.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';

const USAGE = `usage: npm run audit-load -- [options]
  --events N   requests of each case, one event each (default 50000)
`;
const { values } = readCommandLine(USAGE, {
  options: { events: { type: 'string', default: '50000' }, help: { type: 'boolean', default: false } },
});
const CLIENTS = 32;
const BATCH = 100;
/** As many events go to the audit actor together where nobody waits for them (actors/auditing/audit-event-groups.ts). */
const UNAWAITED = 128;
/** Of these a tenth is written before the kill, and every line is read again and again meanwhile. */
const KILLED_EVENTS = 50_000;
/** A request that is counted: its number is in its address, and so in its event. */
const MARK = /\/version\?n=(\d+)/;

interface Event {
  readonly requestURI: string;
}

function policyFile(folder: string): string {
  const file = join(folder, 'policy.json');
  const rules = [{ level: 'Metadata', nonResourceURLs: ['/version'] }];
  const policy = { apiVersion: 'audit.orch.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules };
  writeFileSync(file, JSON.stringify(policy));
  return file;
}

/** Asks so many times, each with another number from 0 on, as fast as the load generator of the bench does; answers those numbers. */
async function flood(one: ServerProcess, count: number): Promise<ReadonlySet<number>> {
  const bench = new Bench({});
  try {
    const { operations } = await bench.load({
      type: 'requests',
      endpoint: readConnectionFile(one.kubeconfig),
      connections: CLIENTS,
      request: { method: 'GET', path: '/version?n={seq}' },
      objects: 1,
      objectChoice: 'shared',
      capturesVersion: false,
      bounds: bench.wholeCount(count),
    });
    if (operations < count) throw new Error(`only ${operations} of ${count} requests were answered well`);
  } finally {
    await bench.close();
  }
  return new Set(Array.from({ length: count }, (_, number) => number));
}

/** The same from here, of which every answer is known; ends with the server. */
async function ask({ client }: ServerProcess, count: number): Promise<ReadonlySet<number>> {
  const answered = new Set<number>();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      const { status } = await client.get(`/version?n=${number}`);
      if (status === 200) answered.add(number);
    }
  };
  await Promise.allSettled(Array.from({ length: CLIENTS }, lane));
  return answered;
}

/** How often each number is among the lines or events. */
function countsOf(texts: Iterable<string>): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const text of texts) {
    const found = MARK.exec(text);
    if (found !== null) counts.set(Number(found[1]), (counts.get(Number(found[1])) ?? 0) + 1);
  }
  return counts;
}

function* loggedLines(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) yield* readFileSync(join(folder, name), 'utf8').split('\n');
}

async function droppedBy({ client }: ServerProcess): Promise<number> {
  return new MetricsText((await client.get('/metrics')).text).sum('apiserver_audit_error_total');
}

interface Verdict {
  readonly answered: number;
  readonly once: number;
  readonly twice: number;
  readonly missing: number;
  readonly dropped: number;
}

function verdict(answered: ReadonlySet<number>, counts: ReadonlyMap<number, number>, dropped: number): Verdict {
  const times = [...answered].map((number) => counts.get(number) ?? 0);
  return {
    answered: answered.size,
    once: times.filter((count) => count === 1).length,
    twice: times.filter((count) => count > 1).length,
    missing: times.filter((count) => count === 0).length,
    dropped,
  };
}

type Case = (scope: Scope, folder: string, events: number) => Promise<readonly [isWell: boolean, of: Verdict]>;

async function server(scope: Scope, folder: string, args: readonly string[]): Promise<ServerProcess> {
  return startServer(scope, { args: ['--audit-policy-file', policyFile(folder), ...args] });
}

const blockingLog: Case = async (scope, folder, events) => {
  const logs = join(folder, 'logs');
  const rotating = ['--audit-log-path', join(logs, 'audit.log'), '--audit-log-maxsize', '5'];
  const one = await server(scope, folder, [...rotating, '--audit-log-mode', 'blocking', '--audit-log-maxbackup', '0']);
  const of = verdict(await flood(one, events), countsOf(loggedLines(logs)), await droppedBy(one));
  return [of.once === events && of.dropped === 0, of];
};

/** A webhook that takes every second list it is sent, and what it has taken. */
async function halfWebhook(scope: Scope, folder: string): Promise<readonly [option: string, taken: string[]]> {
  const taken: string[] = [];
  let calls = 0;
  const url = await httpsService(scope, folder, 'audit', (request, response) => {
    void jsonOf<{ items: readonly Event[] }>(request).then(({ items }) => {
      const fails = calls++ % 2 === 0;
      if (!fails) for (const { requestURI } of items) taken.push(requestURI);
      response.writeHead(fails ? 500 : 200).end();
    });
  });
  return [`--audit-webhook-config-file=${connectionFile(folder, 'audit', url, 'key')}`, taken];
}

/** What was dropped, once every event has come to something: the last of a request is made when it has been answered. */
function settled(one: ServerProcess, answered: ReadonlySet<number>, taken: readonly string[]): Promise<number> {
  return eventually(
    () => droppedBy(one),
    (dropped) => dropped + taken.length >= answered.size,
  );
}

const blockingWebhook: Case = async (scope, folder, events) => {
  const [webhook, taken] = await halfWebhook(scope, folder);
  const quick = '--audit-webhook-initial-backoff=1ms';
  const one = await server(scope, folder, [webhook, quick, '--audit-webhook-mode=blocking']);
  const answered = await flood(one, Math.ceil(events / 10));
  const dropped = await settled(one, answered, taken);
  const of = verdict(answered, countsOf(taken), dropped);
  return [of.twice === 0 && of.missing === of.dropped, of];
};

const batchedWebhook: Case = async (scope, folder, events) => {
  const [webhook, taken] = await halfWebhook(scope, folder);
  const small = ['--audit-webhook-batch-buffer-size=1000', `--audit-webhook-batch-max-size=${BATCH}`];
  const pace = ['--audit-webhook-batch-throttle-qps=20', '--audit-webhook-initial-backoff=1ms'];
  const one = await server(scope, folder, [webhook, '--audit-webhook-batch-max-wait=50ms', ...small, ...pace]);
  const answered = await flood(one, events);
  const dropped = await settled(one, answered, taken);
  const of = verdict(answered, countsOf(taken), dropped);
  return [of.twice === 0 && of.missing === dropped, of];
};

/** A server that is killed while it is asked. `missingMax`: of those that were answered. */
async function killed(
  args: readonly string[],
  missingMax: number,
  ...[scope, folder, events]: Parameters<Case>
): ReturnType<Case> {
  const logs = join(folder, 'logs');
  const one = await server(scope, folder, ['--audit-log-path', join(logs, 'audit.log'), ...args]);
  const asked = Math.min(events, KILLED_EVENTS);
  const asking = ask(one, asked);
  await eventually(
    async () => readdirSync(folder).includes('logs') && [...loggedLines(logs)].length,
    (lines) => lines !== false && lines > asked / 10,
  );
  process.kill(one.pid, 'SIGKILL');
  const of = verdict(await asking, countsOf(loggedLines(logs)), 0);
  return [of.twice === 0 && of.missing <= missingMax, of];
}

const killedBlocking: Case = (...of) => killed(['--audit-log-mode=blocking'], 0, ...of);

/** The batch that was gathering, what was on its way there, and what came while one was being written: no more than there are clients. */
const killedInBatches: Case = (...of) => {
  const batched = [`--audit-log-batch-max-size=${BATCH}`, '--audit-log-batch-max-wait=30s', '--audit-log-mode=batch'];
  return killed([...batched, '--audit-log-batch-throttle-enable=false'], BATCH + UNAWAITED + CLIENTS, ...of);
};

const CASES: Readonly<Record<string, Case>> = {
  'a log that is put aside, blocking: each event once': blockingLog,
  'a webhook that fails half the time, blocking: each event once, or counted': blockingWebhook,
  'the same in batches with a small buffer: what is missing was counted': batchedWebhook,
  'a log, blocking, kill -9: nothing that was answered is missing': killedBlocking,
  'a log in batches, kill -9: at most a batch is missing': killedInBatches,
};

async function main(): Promise<void> {
  for (const [says, run] of Object.entries(CASES)) {
    const undo: (() => void | Promise<void>)[] = [];
    const folder = mkdtempSync(join(tmpdir(), 'orch-audit-load-'));
    const beganMs = performance.now();
    try {
      const [isWell, of] = await run({ teardown: (step) => undo.push(step) }, folder, Number(values.events));
      const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
      const figures = Object.entries(of).map(([name, count]) => `${name} ${count}`);
      process.stdout.write(`${isWell ? 'good' : 'BAD '} ${says}: ${figures.join(', ')} (${seconds} s)\n`);
      if (!isWell) process.exitCode = 1;
    } finally {
      for (const step of undo.reverse()) await step();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

if (values.help) process.stdout.write(USAGE);
else await main();
