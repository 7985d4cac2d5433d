// Streams of pods whose node agent sends them elsewhere, through real servers.
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import ava, { type ExecutionContext } from 'ava';
import { type FakeAgent, startFakeAgent } from '../server/fake-agent.ts';
import { LISTENERS, testOn } from '../server/listeners.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { handshake } from '../server/web-socket-client.ts';
import { echo, PODS, serverWithNode, upgraded } from './agent-server.ts';

// One after the other: each starts processes of its own.
const test = ava.serial;

const redirecting =
  (location: () => string): RequestListener =>
  (_request, response) => {
    response.writeHead(302, { location: location() });
    // Whoever follows does not wait for the body.
    response.write('elsewhere');
  };

/** An agent that sends streams to a place of the test's, which gives everything back. */
async function redirectingAgent(
  t: ExecutionContext,
  host: string,
): Promise<{ agent: FakeAgent; runtime: FakeAgent; location: { value: string } }> {
  const runtime = await startFakeAgent(t, { handler: (_request, response) => response.end(), onUpgrade: echo });
  const location = { value: `https://${host}:${runtime.port}/streams/x?token=1` };
  const agent = await startFakeAgent(t, { handler: redirecting(() => location.value) });
  return { agent, runtime, location };
}

/** All that the server answers to an exec. */
async function execAnswer(
  t: ExecutionContext,
  server: Awaited<ReturnType<typeof serverWithNode>>,
  isWhole: (received: string) => boolean,
): Promise<string> {
  const { received } = await upgraded(t, server, `${PODS}/p/exec?command=sh`);
  const patience = AbortSignal.timeout(120_000);
  while (!isWhole(received())) {
    patience.throwIfAborted();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return received();
}

const isTunnel = (received: string): boolean => received.endsWith('early');
const isRefusal = (received: string): boolean => /"code":\s?500/.test(received);

test("a stream follows its agent's redirection on the agent's own host, and to no other", async (t) => {
  const { agent, runtime, location } = await redirectingAgent(t, '127.0.0.1');
  const server = await serverWithNode(t, agent.port, ['--ingress', 'node']);
  t.regex(await execAnswer(t, server, isTunnel), /^HTTP\/1\.1 101 [\s\S]*X-Agent: yes/);
  t.deepEqual(
    runtime.seen.map(({ method, url }) => [method, url]),
    [['GET', '/streams/x?token=1']],
  );
  t.is(runtime.seen[0]?.headers['x-stream-protocol-version'], 'v4.channel.k8s.io');
  t.is(runtime.seen[0]?.headers.authorization, undefined);
  const refusals: readonly (readonly [location: string, why: RegExp])[] = [
    [`https://localhost:${runtime.port}/`, /redirects to another host/],
    ['ftp://127.0.0.1/', /no address of HTTP/],
    ['', /without a Location/],
    ['/again', /in circles/],
  ];
  for (const [value, why] of refusals) {
    location.value = value;
    t.regex(await execAnswer(t, server, isRefusal), why);
  }
  t.is(runtime.seen.length, 1);
});

test('without ValidateProxyRedirects a stream follows to other hosts that the server connects to', async (t) => {
  const { agent, runtime, location } = await redirectingAgent(t, 'localhost');
  const gates = ['--feature-gates', 'ValidateProxyRedirects=false'];
  const server = await serverWithNode(t, agent.port, ['--ingress', 'node', ...gates]);
  t.regex(await execAnswer(t, server, isTunnel), /^HTTP\/1\.1 101 /);
  t.is(runtime.seen[0]?.method, 'GET');
  location.value = 'http://169.254.169.254/latest';
  t.regex(await execAnswer(t, server, isRefusal), /not one the server connects to/);
});

test('without StreamingProxyRedirects a redirection of an agent fails, and the client does not hear where to', async (t) => {
  const { agent, runtime, location } = await redirectingAgent(t, '127.0.0.1');
  const gates = ['--feature-gates', 'StreamingProxyRedirects=false'];
  const server = await serverWithNode(t, agent.port, ['--ingress', 'node', ...gates]);
  const answer = await execAnswer(t, server, isRefusal);
  t.regex(answer, /^HTTP\/1\.1 500 [\s\S]*"invalid upgrade response: status code 302"/);
  t.false(answer.includes(location.value));
  t.deepEqual(runtime.seen, []);
});

for (const listener of LISTENERS) {
  testOn(listener).serial(`only a refusal is passed back to who asks for a stream (${listener})`, async (t) => {
    const answers = [200, 204, 301, 303, 304, 307, 308];
    const agent = await startFakeAgent(t, {
      handler: ({ url = '' }, response) => {
        response.writeHead(Number(/\d{3}$/.exec(url)), {
          location: 'https://elsewhere.example.net/',
          'x-agent': 'yes',
        });
        response.end();
      },
    });
    const server = await serverWithNode(t, agent.port, ['--ingress', listener]);
    // By WebSocket, which either listener passes on itself.
    const headers = Object.fromEntries(handshake().headers.map((line) => line.split(': ')));
    for (const status of answers) {
      for (const path of [`${PODS}/p/exec?command=${status}`, `/api/v1/nodes/n/proxy/${status}`]) {
        const answer = await answerTo(server, path, headers);
        t.is(answer.status, 500, path);
        t.is(answer.message, `invalid upgrade response: status code ${status}`);
        t.is(answer.headers.location, undefined);
        t.is(answer.headers['x-agent'], undefined);
      }
    }
    const refused = await answerTo(server, `${PODS}/p/exec?command=403`, headers);
    t.deepEqual([refused.status, refused.headers['x-agent']], [403, 'yes']);
  });
}

/** What is answered to a request for another protocol, in HTTP. */
async function answerTo(
  { url, caPem, token }: ServerProcess,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | undefined; readonly headers: IncomingHttpHeaders; readonly message: unknown }> {
  const all = { ...headers, authorization: `Bearer ${token}` };
  const outgoing = request(`${url}${path}`, { ca: caPem, headers: all, agent: false }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = await text(answer);
  const { message } = body === '' ? { message: undefined } : (JSON.parse(body) as { message: unknown });
  return { status: answer.statusCode, headers: answer.headers, message };
}
