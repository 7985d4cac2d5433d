// An extension server as one can be that is none of ours, for tests: an HTTPS server of this process that answers for a group of its
// own, behind an APIService of a real one. Nothing here is part of a server.
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { available, OUTSIDE, serviceIn } from './extension-server.ts';
import { type FakeAgent, type FakeAgentSettings, startFakeAgent } from './fake-agent.ts';
import type { Scope, ServerProcess } from './server-process.ts';

export interface FakeExtension extends FakeAgent {
  readonly group: string;
  /** Where its objects are. */
  readonly path: string;
}

export interface FakeExtensionSettings {
  /** What is asked beside the discovery document. */
  readonly handler?: RequestListener;
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** In place of the right discovery document. */
  readonly discovery?: RequestListener;
  /** What the APIService comes to say. */
  readonly reason?: string;
  readonly apiService?: object;
  readonly pair?: FakeAgentSettings['pair'];
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Starts one for `v1` of `<name>.example.net`, whose type is `things`, behind a service of that name. */
export async function fakeExtension(
  scope: Scope,
  front: ServerProcess,
  name: string,
  settings: FakeExtensionSettings = {},
): Promise<FakeExtension> {
  const group = `${name}.example.net`;
  const root = `/apis/${group}/v1`;
  const {
    handler = notFound,
    discovery = resourcesOf(group),
    onUpgrade,
    reason = 'Passed',
    apiService,
    pair,
  } = settings;
  const agent = await startFakeAgent(scope, {
    host: OUTSIDE!,
    names: [`${name}.default.svc`],
    pair,
    handler: (request, response) => (request.url === root ? discovery : handler)(request, response),
    ...(onUpgrade === undefined ? {} : { onUpgrade }),
  });
  await serviceIn(front, agent.port, name);
  const body = {
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'default', name, port: agent.port },
      caBundle: Buffer.from(agent.certPem).toString('base64'),
      ...apiService,
    },
  };
  const made = await front.client.request('POST', '/apis/apiregistration.orch.io/v1/apiservices', { body });
  if (made.status !== 201) throw new Error(made.text);
  await available(front.client, reason, `v1.${group}`);
  return { ...agent, group, path: `${root}/namespaces/default/things` };
}

/** Answers with a JSON document. */
export function answering(value: unknown, status = 200): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
}

const notFound = answering({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }, 404);

function resourcesOf(group: string): RequestListener {
  const things = { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: VERBS };
  return answering({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources: [things] });
}
