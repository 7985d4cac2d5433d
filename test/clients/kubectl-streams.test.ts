// kubectl exec, attach and port-forward on a server started without options that choose a listener, by WebSocket and by the
// older protocol that it falls back to, with a node agent of this test that speaks both.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import ava, { type ExecutionContext } from 'ava';
import { type FakeAgent, startFakeAgent } from '../server/fake-agent.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { acceptSpdy, SpdyPeer, type SpdyStream } from '../server/spdy-agent.ts';
import { acceptWebSocket } from '../server/web-socket-agent.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

const BINARY = 2;
const CLOSE = 8;
const NORMAL = Buffer.from([0x03, 0xe8]);
/** Channels of a stream to a container, as a WebSocket numbers them. */
const STDIN = 0;
const STDOUT = 1;
const ERROR = 3;
const CLOSED = 255;
const SUCCESS = '{"metadata":{},"status":"Success"}';
const LONG_TEXT = 'a long line of input\n'.repeat(20_000);

const undo: (() => void | Promise<void>)[] = [];
let agent: FakeAgent | undefined;
let kubectl: Kubectl | undefined;
let server: ServerProcess | undefined;

test.before(async () => {
  const scope = { teardown: (step: () => void | Promise<void>) => void undo.push(step) };
  agent = await startFakeAgent(scope, {
    handler: (_request, response) => void response.writeHead(404).end(),
    onUpgrade: (request, socket) => {
      const isForward = request.url!.startsWith('/portForward/');
      if (request.headers.upgrade === 'websocket') (isForward ? forwardBySocket : echoBySocket)(request, socket);
      else (isForward ? forwardBySpdy : echoBySpdy)(request, socket);
    },
  });
  server = await startServer(scope, { args: ['--orchlet-permit-loopback'] });
  kubectl = new Kubectl(server);
  undo.push(() => kubectl!.dispose());
  await kubectl.accountIn('default');
  await kubectl.ok(
    ['apply', '-f', '-'],
    `
apiVersion: v1
kind: Node
metadata: {name: node1}
status:
  addresses: [{type: InternalIP, address: 127.0.0.1}]
  daemonEndpoints: {orchletEndpoint: {Port: ${agent.port}}}
---
apiVersion: v1
kind: Pod
metadata: {name: talker}
spec:
  nodeName: node1
  containers: [{name: c, image: i, stdin: true, ports: [{containerPort: 80}]}]
status: {phase: Running}
`,
  );
  await kubectl.ok([
    'patch',
    'pod',
    'talker',
    '--subresource=status',
    '--type=merge',
    '-p',
    '{"status":{"phase":"Running"}}',
  ]);
});

test.after.always(async () => {
  for (const step of undo) await step();
});

/** What a container that says everything twice over would: what comes in goes out. */
function echoBySocket(request: IncomingMessage, socket: Duplex): void {
  const channel = (number: number, bytes: Uint8Array | string): Buffer =>
    Buffer.concat([Buffer.from([number]), Buffer.from(bytes)]);
  const done = (): void => {
    side.send(BINARY, channel(ERROR, SUCCESS));
    side.send(CLOSE, NORMAL);
  };
  const side = acceptWebSocket(request, socket, ({ opcode, payload }) => {
    if (opcode !== BINARY) return;
    if (payload[0] === STDIN) side.send(BINARY, channel(STDOUT, payload.subarray(1)));
    if (payload[0] === CLOSED && payload[1] === STDIN) done();
  });
  if (!isWithInput(request)) {
    side.send(BINARY, channel(STDOUT, 'hello from the agent\n'));
    done();
  }
}

function isWithInput(request: IncomingMessage): boolean {
  return request.url!.includes('input=1');
}

/** The same by streams, whose order says what they are for: errors, input if there is any, output. */
function echoBySpdy(request: IncomingMessage, socket: Duplex): void {
  const hasInput = isWithInput(request);
  acceptSpdy(request, socket, 'v4.channel.k8s.io', (_stream, { streams }) => {
    const [error, input, output] = hasInput ? streams : [streams[0], undefined, streams[1]];
    if (error === undefined || output === undefined || streams.length !== (hasInput ? 4 : 3)) return;
    const done = (): void => {
      error.send(SUCCESS);
      for (const stream of streams) stream.end();
    };
    if (input === undefined) {
      output.send('hello from the agent\n');
      done();
      return;
    }
    input.onData = (bytes) => output.send(bytes);
    input.onEnd = done;
  });
}

/** Forwarded connections: a stream for errors, then one for the data, which comes back in capitals. */
function onForwardedStream(stream: SpdyStream, { streams }: SpdyPeer): void {
  if (streams.length % 2 === 1) return;
  const error = streams.at(-2)!;
  stream.onData = (bytes) => stream.send(bytes.toString().toUpperCase());
  stream.onEnd = () => {
    stream.end();
    error.end();
  };
}

function forwardBySpdy(request: IncomingMessage, socket: Duplex): void {
  acceptSpdy(request, socket, 'portforward.k8s.io', onForwardedStream);
}

/** SPDY in the messages of a WebSocket. */
function forwardBySocket(request: IncomingMessage, socket: Duplex): void {
  const peer = new SpdyPeer((bytes) => void side.send(BINARY, bytes), onForwardedStream);
  const side = acceptWebSocket(request, socket, ({ opcode, payload }) => {
    if (opcode === BINARY) peer.feed(payload);
  });
}

const PROTOCOLS: readonly (readonly [title: string, upgrade: string, environment: NodeJS.ProcessEnv])[] = [
  ['by WebSocket', 'websocket', {}],
  ['by SPDY', 'SPDY/3.1', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
];

for (const [title, upgrade, environment] of PROTOCOLS) {
  test.serial(`kubectl exec prints what a container says (${title})`, async (t) => {
    const output = await kubectl!.ok(['exec', 'talker', '--', 'say', 'hello'], '', environment);
    t.is(output, 'hello from the agent\n');
    const { url, headers } = agent!.seen.at(-1)!;
    t.is(url, '/exec/default/talker/c?output=1&error=1&command=say&command=hello');
    t.is(headers.upgrade, upgrade);
    t.is(headers.authorization, undefined);
  });

  test.serial(`kubectl exec -i passes everything in and out, and notices the end (${title})`, async (t) => {
    t.is(await kubectl!.ok(['exec', '-i', 'talker', '--', 'cat'], LONG_TEXT, environment), LONG_TEXT);
  });

  test.serial(`kubectl attach joins a container (${title})`, async (t) => {
    t.is(await kubectl!.ok(['attach', '-i', 'talker'], 'typed\n', environment), 'typed\n');
    t.regex(agent!.seen.at(-1)!.url, /^\/attach\/default\/talker\/c\?/);
  });

  test.serial(`kubectl port-forward carries connections to a pod (${title})`, async (t) => {
    const forward = kubectl!.follow(t, ['port-forward', 'pod/talker', ':80'], environment);
    const lines = await forward.lineMatching(/^Forwarding from 127\.0\.0\.1:\d+/);
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(lines.join('\n'))![1]);
    for (const text of ['one', 'two', 'three'.repeat(30_000)]) t.is(await saidBack(t, port, text), text.toUpperCase());
    t.is(agent!.seen.at(-1)!.headers.upgrade, upgrade);
  });
}

async function saidBack(t: ExecutionContext, port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  let back = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    back += piece;
  });
  socket.end(text);
  await once(socket, 'close');
  return back;
}
