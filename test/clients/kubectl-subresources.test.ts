// kubectl where it leaves objects alone and asks for something: drain, logs, exec, tokens, access, certificates, in both
// dialects, with a node agent of this test.
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import ava, { type ExecutionContext } from 'ava';
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../../config/dialect.ts';
import { eventually } from '../integration/objects.ts';
import { certificateRequest } from '../server/certificate-request.ts';
import { type FakeAgent, startFakeAgent } from '../server/fake-agent.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

interface Setup {
  readonly server: ServerProcess;
  readonly kubectl: Kubectl;
}

const setups = new Map<DialectName, Setup>();
const undo: (() => void | Promise<void>)[] = [];
let agent: FakeAgent | undefined;

test.before(async () => {
  const scope = { teardown: (step: () => void | Promise<void>) => void undo.push(step) };
  agent = await startFakeAgent(scope, {
    handler: (request, response) => {
      const isReady = !request.url!.includes('/starting/');
      response.writeHead(isReady ? 200 : 400, { 'content-type': 'text/plain' });
      response.end(isReady ? 'said so\n' : 'container "c" in pod "starting" is waiting to start');
    },
    onUpgrade: answerExec,
  });
  await Promise.all(
    DIALECT_NAMES.map(async (dialect) => {
      const server = await startServer(scope, {
        // The node never says that it is well, and nothing is made of that while it is looked at.
        args: ['--api-dialect', dialect, '--orchlet-permit-loopback', '--controllers=*,-nodelifecycle'],
      });
      const kubectl = new Kubectl(server);
      undo.push(() => kubectl.dispose());
      setups.set(dialect, { server, kubectl });
      await kubectl.accountIn('default');
      await kubectl.ok(['apply', '-f', '-'], manifestFor(dialect, agent!.port));
    }),
  );
});

test.after.always(async () => {
  for (const step of undo) await step();
});

function manifestFor(dialect: DialectName, port: number): string {
  const pod = (name: string, containers: readonly string[]): string => `
---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  nodeName: node1
  terminationGracePeriodSeconds: 0
  containers: [${containers.map((container) => `{name: ${container}, image: i}`).join(', ')}]
`;
  return `
apiVersion: v1
kind: Node
metadata: {name: node1}
status:
  addresses: [{type: InternalIP, address: 127.0.0.1}]
  daemonEndpoints: {${DIALECTS[dialect].nodeAgent}Endpoint: {Port: ${port}}}
${pod('talker', ['c'])}${pod('starting', ['c'])}${pod('pair', ['left', 'right'])}
---
apiVersion: v1
kind: Pod
metadata: {name: homeless}
spec:
  schedulerName: nobody
  containers: [{name: c, image: i}]
`;
}

/** Exec by the protocol that kubectl speaks over WebSockets: one line of output, then the outcome. */
function answerExec(request: IncomingMessage, socket: Duplex): void {
  const key = request.headers['sec-websocket-key'] ?? '';
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Accept: ${accept}`,
    `Sec-WebSocket-Protocol: ${request.headers['sec-websocket-protocol']?.split(',')[0] ?? ''}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const frame = (channel: number, text: string): Buffer => {
    const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);
    return Buffer.concat([Buffer.from([0x82, payload.length]), payload]);
  };
  socket.write(frame(1, 'hello from the agent\n'));
  socket.write(frame(3, '{"metadata":{},"status":"Success"}'));
  socket.write(Buffer.from([0x88, 2, 0x03, 0xe8]));
  socket.on('data', () => {});
  socket.on('end', () => socket.end());
}

type Body = (t: ExecutionContext, setup: Setup, dialect: DialectName) => Promise<void>;

/** The same test once a dialect. */
function inBothDialects(title: string, body: Body): void {
  for (const dialect of DIALECT_NAMES) {
    test.serial(`${title} (${dialect})`, (t) => body(t, setups.get(dialect)!, dialect));
  }
}

/** For commands that know a group by one name only. */
function inKubernetes(title: string, body: Body): void {
  test.serial(title, (t) => body(t, setups.get('kubernetes')!, 'kubernetes'));
}

inBothDialects('kubectl logs prints what the agent says', async (t, { kubectl }) => {
  t.is(await kubectl.ok(['logs', 'talker']), 'said so\n');
  t.is(await kubectl.ok(['logs', 'pair', '-c', 'right', '--tail', '2']), 'said so\n');
  t.is(await kubectl.ok(['logs', 'homeless']), '');
  t.regex(
    await kubectl.refused(['logs', 'starting']),
    /\(BadRequest\): container "c" in pod "starting" is waiting to start/,
  );
  t.regex(await kubectl.refused(['logs', 'pair', '-c', 'middle']), /container middle is not valid for pod pair/);
});

inBothDialects('kubectl exec reaches the agent through a tunnel', async (t, { kubectl }) => {
  const { stdout } = await kubectl.run(['exec', 'talker', '--', 'say', 'hello']);
  const { url, headers } = agent!.seen.at(-1)!;
  t.is(url, '/exec/default/talker/c?output=1&error=1&command=say&command=hello');
  // Older ones speak a protocol that this test's agent does not know.
  t.is(headers.upgrade, kubectl.isOlder ? 'SPDY/3.1' : 'websocket');
  t.is(stdout, kubectl.isOlder ? '' : 'hello from the agent\n');
  t.regex(await kubectl.refused(['exec', 'homeless', '--', 'x']), /pod homeless does not have a host assigned/);
});

inBothDialects('kubectl get --raw goes through the proxy of a node', async (t, { kubectl }) => {
  t.is(await kubectl.ok(['get', '--raw', '/api/v1/nodes/node1/proxy/anything']), 'said so\n');
});

inKubernetes('a token for a service account is one that kubectl can use', async (t, { server, kubectl }) => {
  await kubectl.ok(['create', 'serviceaccount', 'robot']);
  const ask = async (duration: string): Promise<string> => {
    if (!kubectl.isOlder) return (await kubectl.ok(['create', 'token', 'robot', '--duration', duration])).trim();
    const spec = { expirationSeconds: Number.parseInt(duration, 10) * 60 };
    const request = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
    const path = '/api/v1/namespaces/default/serviceaccounts/robot/token';
    return JSON.parse(await kubectl.ok(['create', '--raw', path, '-f', '-'], request)).status.token as string;
  };
  const token = await ask('20m');
  const use = ['--server', server.url, '--token', token, '--kubeconfig', '/dev/null', '--insecure-skip-tls-verify'];
  t.regex(await kubectl.ok([...use, 'get', '--raw', '/version']), /"gitVersion"/);
  t.regex(await kubectl.refused([...use, 'get', 'pods']), /User "system:serviceaccount:default:robot" cannot list/);
  await t.throwsAsync(ask('5m'), { message: /expirationSeconds|is invalid/ });
  await kubectl.ok(['delete', 'serviceaccount', 'robot']);
  t.regex(await kubectl.refused([...use, 'get', 'pods']), /Unauthorized|must be logged in/);
});

inKubernetes('kubectl auth can-i asks about one thing, and lists all', async (t, { kubectl }) => {
  t.is(await kubectl.ok(['auth', 'can-i', 'create', 'pods']), 'yes\n');
  t.is(await kubectl.ok(['auth', 'can-i', 'get', '/healthz']), 'yes\n');
  t.regex(await kubectl.ok(['auth', 'can-i', '--list']), /^\*\.\* +\[\] +\[\] +\[\*\]$/m);
});

inKubernetes('kubectl certificate approve is kept, and seen in the list', async (t, { kubectl }) => {
  const request = readFileSync('test/fixtures/certificate-requests/user.pem').toString('base64');
  const manifest = `
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: mine}
spec: {request: ${request}, signerName: example.test/signer, usages: [client auth]}
`;
  await kubectl.ok(['create', '-f', '-'], manifest);
  t.regex(await kubectl.ok(['get', 'csr', 'mine']), /orch-admin .*Pending/);
  await kubectl.ok(['certificate', 'approve', 'mine']);
  t.regex(await kubectl.ok(['get', 'csr', 'mine']), /orch-admin .*Approved/);
});

inKubernetes(
  'kubectl certificate approve makes the cluster sign, and kubectl certificate deny does not',
  async (t, { kubectl }) => {
    const manifest = (name: string): string => {
      const request = Buffer.from(certificateRequest('/O=dev/CN=jane').requestPem).toString('base64');
      return `
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: ${name}}
spec: {request: ${request}, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}
`;
    };
    for (const name of ['wanted', 'unwanted']) await kubectl.ok(['create', '-f', '-'], manifest(name));
    await kubectl.ok(['certificate', 'deny', 'unwanted']);
    await kubectl.ok(['certificate', 'approve', 'wanted']);
    const certificateIn = (name: string): Promise<string> =>
      kubectl.ok(['get', 'csr', name, '-o', 'jsonpath={.status.certificate}']);
    const encoded = await eventually(
      () => certificateIn('wanted'),
      (text) => text !== '',
    );
    t.is(new X509Certificate(Buffer.from(encoded, 'base64')).subject, 'O=dev\nCN=jane');
    t.regex(await kubectl.ok(['get', 'csr', 'wanted']), /orch-admin .*Approved,Issued/);
    t.regex(await kubectl.ok(['get', 'csr', 'unwanted']), /orch-admin .*Denied/);
    t.is(await certificateIn('unwanted'), '');
  },
);

inBothDialects('kubectl get componentstatuses prints their health', async (t, { kubectl }) => {
  const text = await kubectl.ok(['get', 'componentstatuses']);
  t.regex(text, /^scheduler +Healthy +ok/m);
});

inBothDialects(
  'kubectl drain waits for the disruption budget, and evicts when it allows it',
  async (t, { server, kubectl }) => {
    const budget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: talkers}
spec: {minAvailable: 1, selector: {matchLabels: {app: talker}}}
`;
    await kubectl.ok(['create', '-f', '-'], budget);
    const setStatus = async (path: string, status: object): Promise<void> => {
      const headers = { 'content-type': 'application/merge-patch+json' };
      const answer = await server.client.request('PATCH', `${path}/status`, { body: { status }, headers });
      t.is(answer.status, 200, answer.text);
    };
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/talkers';
    await setStatus('/api/v1/namespaces/default/pods/talker', {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    const state = { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    await setStatus(budgets, { ...state, disruptionsAllowed: 0 });
    const drain = ['drain', 'node1', '--force', '--grace-period', '0'];
    const held = kubectl.follow(t, drain);
    await held.complaintMatching(/Cannot evict pod as it would violate the pod's disruption budget\./);
    await held.end();
    t.regex(await kubectl.ok(['get', 'pods']), /^talker /m);
    await setStatus(budgets, { ...state, disruptionsAllowed: 1, currentHealthy: 2 });
    await kubectl.ok(drain);
    const left = await kubectl.ok(['get', 'pods', '-o', 'name']);
    t.is(left, 'pod/homeless\n');
    const { json } = await server.client.get(budgets);
    t.like(json.status as object, { disruptionsAllowed: 0 });
  },
);
