// Streams of pods whose node agent sends them elsewhere, through real servers.
import type { RequestListener } from 'node:http';
import ava, { type ExecutionContext } from 'ava';
import { type FakeAgent, startFakeAgent } from '../server/fake-agent.ts';
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

test("without StreamingProxyRedirects the client gets the agent's redirection", async (t) => {
  const { agent, runtime, location } = await redirectingAgent(t, '127.0.0.1');
  const gates = ['--feature-gates', 'StreamingProxyRedirects=false'];
  const server = await serverWithNode(t, agent.port, ['--ingress', 'node', ...gates]);
  const answer = await execAnswer(t, server, (received) => received.includes('elsewhere'));
  t.regex(answer, /^HTTP\/1\.1 302 /);
  t.true(answer.includes(`ocation: ${location.value}`));
  t.deepEqual(runtime.seen, []);
});
