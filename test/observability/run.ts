// `npm run observability`: a server under some load, scraped by a Prometheus of the machine's. Its text is checked by promtool, and
// every query of docs/observability must answer with series. A line each; the exit code says whether all is well.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { freePort } from '../../bench/server/free-port.ts';
import { POD_SPEC } from '../integration/objects.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { readText } from '../unit/source-tree.ts';

const run = promisify(execFile);
const FOLDER = 'docs/observability';
const LOAD_MS = 15_000;

interface Query {
  readonly of: string;
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly { readonly title?: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert?: string; readonly record?: string; readonly expr: string }[];
  }[];
}

/** An alert that is silent has no series: what it looks at must have some. */
const COMPARISON = /\s(?:>|<|>=|<=|==|!=)\s*[\d.e+-]+$/;

function queries(): readonly Query[] {
  const dashboard = JSON.parse(readText(`${FOLDER}/dashboard.json`)) as Dashboard;
  const rules = parse(readText(`${FOLDER}/rules.yaml`)) as Rules;
  return [
    ...dashboard.panels.flatMap(({ title = '', targets = [] }) =>
      targets.map(({ expr }) => ({ of: `panel ${title}`, expr: expr.replaceAll(/\$__\w+/g, '1m') })),
    ),
    ...rules.groups.flatMap((group) =>
      group.rules.map(({ alert, record, expr }) =>
        record === undefined
          ? { of: `alert ${alert}`, expr: expr.trim().replace(COMPARISON, '') }
          : { of: `rule ${record}`, expr },
      ),
    ),
  ];
}

/** A bit of everything that is measured: pods that are scheduled, reads, watches, refusals, and an answer that comes too late. */
async function load({ client }: ServerProcess): Promise<void> {
  const node = { metadata: { name: 'n1' }, status: { allocatable: { cpu: '400', memory: '400Gi', pods: '1000' } } };
  await client.request('POST', '/api/v1/nodes', { body: node });
  const pods = '/api/v1/namespaces/default/pods';
  const watch = await client.watch(`${pods}?watch=true`);
  const late = client.get(`${pods}?resourceVersion=999999999999&resourceVersionMatch=NotOlderThan`);
  const endMs = performance.now() + LOAD_MS;
  for (let count = 0; performance.now() < endMs; count++) {
    const spec = { ...POD_SPEC, tolerations: [{ operator: 'Exists' }] };
    await client.request('POST', pods, { body: { metadata: { name: `p${count}` }, spec } });
    await client.get(pods);
    await client.get(`${pods}/p${count}`);
    await client.get('/api/v1/nodes/n1');
    if (count % 3 === 0) await client.request('DELETE', `${pods}/p${count}`);
    await sleep(50);
  }
  await late;
  watch.close();
}

/** Answers its address, and what ends it. */
async function startPrometheus(
  folder: string,
  server: ServerProcess,
): Promise<readonly [url: string, end: () => void]> {
  writeFileSync(join(folder, 'token'), server.token, { mode: 0o600 });
  const scraped = {
    job_name: 'orch',
    scheme: 'https',
    tls_config: { insecure_skip_verify: true },
    bearer_token_file: join(folder, 'token'),
    static_configs: [{ targets: [new URL(server.url).host] }],
  };
  const configuration = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [resolve(FOLDER, 'rules.yaml')],
    scrape_configs: [scraped],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return [`http://${address}`, () => child.kill()];
}

async function seriesOf(url: string, expr: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
  const { status, data } = (await answer.json()) as { status: string; data?: { result: unknown[] } };
  if (status !== 'success') throw new Error(`Prometheus does not understand ${expr}`);
  return data!.result.length;
}

async function promtool(args: readonly string[], input = ''): Promise<string> {
  const running = run('promtool', args, { maxBuffer: 2 ** 26 });
  running.child.stdin?.end(input);
  const { stdout, stderr } = await running;
  return `${stdout}${stderr}`.trim();
}

async function check(undo: (() => void | Promise<void>)[]): Promise<boolean> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const folder = mkdtempSync(join(tmpdir(), 'orch-observability-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  say(await promtool(['check', 'rules', `${FOLDER}/rules.yaml`]));
  const server = await startServer(
    { teardown: (step) => undo.push(step) },
    {
      args: ['--store-count-metric-poll-period', '1s', '--store-db-metric-poll-interval', '1s'],
    },
  );
  const [url, end] = await startPrometheus(folder, server);
  undo.push(end);
  await load(server);
  const text = (await server.client.get('/metrics')).text;
  // It lints names as well, which are the original's: what it says is shown, and only what cannot be read fails.
  say(
    await promtool(['check', 'metrics'], text).catch((error: { stdout?: string; stderr?: string }) =>
      `${error.stdout ?? ''}${error.stderr ?? ''}`.trim(),
    ),
  );
  await sleep(3000);
  let isWell = true;
  for (const { of, expr } of queries()) {
    const series = await seriesOf(url, expr);
    if (series === 0) isWell = false;
    say(`${series === 0 ? 'NOTHING' : `${series} series`.padEnd(10)} ${of}${series === 0 ? `: ${expr}` : ''}`);
  }
  return isWell;
}

const undo: (() => void | Promise<void>)[] = [];
async function main(): Promise<void> {
  try {
    process.exitCode = (await check(undo)) ? 0 : 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    process.stderr.write('needs prometheus and promtool on the PATH (Debian: apt-get install prometheus)\n');
    process.exitCode = 1;
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

await main();
