// The line of each request at `-v 3`, as text and as JSON, of what clients really sent.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'orch-http-log-'));
test.after.always(() => rmSync(FOLDER, { recursive: true }));
const POLICY = join(FOLDER, 'policy.json');
writeFileSync(
  POLICY,
  JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }),
);
const AUDITED = ['--audit-policy-file', POLICY, '--audit-log-path', join(FOLDER, 'audit.log')];
const AGENT = 'tool/1 "x" resp=999 user="root"';
const LIST = '/api/v1/nodes?limit=2';
const WATCH = '/api/v1/nodes?watch=true&timeoutSeconds=1';
const PAIR = /([\w-]+)=("(?:[^"\\]|\\.)*"|\w+)/g;

type Line = Readonly<Record<string, unknown>>;

/** Undefined for what is not the line of a request. */
const READERS: Readonly<Record<string, (line: string) => Line | undefined>> = {
  text: (line) => {
    if (!/^I\d{4} \S+ +\d+ httplog\.[jt]s:\d+\] "HTTP" verb="/.test(line)) return undefined;
    return Object.fromEntries([...line.matchAll(PAIR)].map(([, name, value]) => [name!, JSON.parse(value!)]));
  },
  json: (line) => {
    const record = line.startsWith('{') ? (JSON.parse(line) as Line) : undefined;
    return record?.msg === 'HTTP' ? record : undefined;
  },
};

for (const [format, read] of Object.entries(READERS)) {
  test(`in a log as ${format}, a request and a watch have lines with what their client sent, and no other`, async (t) => {
    const server = await startServer(t, { args: ['-v', '3', '--logging-format', format, ...AUDITED] });
    const headers = { 'user-agent': AGENT, 'audit-id': 'the-id' };
    for (const path of [LIST, WATCH]) await server.client.request('GET', path, { headers });
    const lines = await eventually(
      async () =>
        server.stderr
          .split('\n')
          .slice(0, -1)
          .map(read)
          .filter((line) => line?.['audit-ID'] === 'the-id'),
      (found) => found.length >= 2,
    );
    t.deepEqual(
      lines.map((line) => [line!.verb, line!.URI, line!.userAgent, line!.srcIP, line!.resp, line!.user]),
      [LIST, WATCH].map((uri) => ['GET', uri, AGENT, '127.0.0.1', 200, lines[0]!.user]),
    );
    for (const line of lines) t.regex(String(line!.latency), /^[\d.]+(?:µs|ms|s)$/);
    t.not(lines[0]!.user, 'root');
  });
}
