// A second orch that serves a group of its own to the clients of a first one: with its own store, behind an APIService.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { establish, GROUP } from '../integration/custom-definitions.ts';
import { accountIn, eventually } from '../integration/objects.ts';
import { certificateAuthority, certificateOf } from './credentials.ts';
import { HttpsClient } from './https-client.ts';
import { type Scope, type ServerProcess, type ServerSettings, startServer } from './server-process.ts';

/** An address of this machine that others could reach: services are called at no other. */
export const OUTSIDE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

const API_SERVICES = '/apis/apiregistration.orch.io/v1/apiservices';
const NAME = `v1.${GROUP}`;
const SERVICE = 'extension';

export interface Federation {
  /** Who is asked. */
  readonly front: ServerProcess;
  /** Who answers for the group. */
  readonly extension: ServerProcess;
  /** The administrator's client of the extension server. */
  readonly direct: HttpsClient;
  /** With the certificates. */
  readonly files: string;
}

/** The path of an APIService. */
export const apiServicePath = (name = NAME): string => `${API_SERVICES}/${name}`;

/** Both servers, the extension's group defined there and not registered yet. `ofExtension`: further arguments of that one. */
export async function federation(
  scope: Scope,
  settings: ServerSettings = {},
  ofExtension: readonly string[] = [],
): Promise<Federation> {
  const at = await twoServers(scope, settings, [], ofExtension);
  await establish(at.direct);
  return at;
}

/** Both servers, the extension without a group of its own. `common`: arguments of both; `ofExtension`: of that one. */
export async function twoServers(
  scope: Scope,
  settings: ServerSettings,
  common: readonly string[] = [],
  ofExtension: readonly string[] = [],
): Promise<Federation> {
  const files = mkdtempSync(join(tmpdir(), 'orch-extension-'));
  scope.teardown(() => rmSync(files, { recursive: true, force: true }));
  certificateAuthority(files, 'ca');
  certificateAuthority(files, 'fronts');
  certificateOf(files, 'fronts', 'front', '/CN=the-front');
  certificateOf(files, 'ca', 'serving', '/CN=extension', {
    usage: 'serverAuth',
    names: [`DNS:${SERVICE}.default.svc`, 'IP:127.0.0.1'],
  });
  const extension = await startServer(scope, {
    args: [
      ...common,
      ...ofExtension,
      '--bind-address=0.0.0.0',
      `--tls-cert-file=${join(files, 'serving.crt')}`,
      `--tls-private-key-file=${join(files, 'serving.key')}`,
      `--requestheader-client-ca-file=${join(files, 'fronts.crt')}`,
      '--requestheader-allowed-names=the-front',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ],
  });
  const front = await startServer(scope, {
    ...settings,
    args: [
      ...common,
      '--enable-aggregator-routing',
      `--proxy-client-cert-file=${join(files, 'front.crt')}`,
      `--proxy-client-key-file=${join(files, 'front.key')}`,
      ...(settings.args ?? []),
    ],
  });
  const direct = new HttpsClient(extension.url, readFileSync(join(files, 'ca.crt'), 'utf8'), extension.token);
  scope.teardown(() => direct.close());
  await serviceIn(front, extension.port);
  return { front, extension, direct, files };
}

/** The body of the extension's APIService. */
export function apiService({ files, extension }: Federation, more: object = {}): object {
  const caBundle = readFileSync(join(files, 'ca.crt')).toString('base64');
  return {
    metadata: { name: NAME },
    spec: {
      group: GROUP,
      version: 'v1',
      groupPriorityMinimum: 2000,
      versionPriority: 15,
      service: { namespace: 'default', name: SERVICE, port: extension.port },
      caBundle,
      ...more,
    },
  };
}

/** Registers the extension's group, and waits until its APIService says what is wanted. */
export async function register(at: Federation, more: object = {}, reason = 'Passed'): Promise<Condition> {
  const made = await at.front.client.request('POST', API_SERVICES, { body: apiService(at, more) });
  if (made.status !== 201) throw new Error(made.text);
  return available(at.front.client, reason);
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** The condition, once it has the reason. */
export async function available(client: HttpsClient, reason: string, name = NAME): Promise<Condition> {
  const condition = await eventually(
    async () => {
      const { json } = await client.get(apiServicePath(name));
      return (json.status as { conditions?: Condition[] } | undefined)?.conditions?.find(
        ({ type }) => type === 'Available',
      );
    },
    (found) => found?.reason === reason,
  );
  return condition!;
}

/** A service with one endpoint, which is a pod of its namespace: this machine. */
export async function serviceIn({ client }: ServerProcess, port: number, name = SERVICE): Promise<void> {
  const made = async (path: string, body: object, verb = 'POST', contentType = 'application/json'): Promise<void> => {
    const { status, text } = await client.request(verb, path, { body, headers: { 'content-type': contentType } });
    if (status > 201) throw new Error(text);
  };
  await accountIn(client);
  const core = '/api/v1/namespaces/default';
  await made(`${core}/services`, { metadata: { name }, spec: { ports: [{ port }] } });
  const spec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }] };
  await made(`${core}/pods`, { metadata: { name }, spec });
  const status = { podIP: OUTSIDE, podIPs: [{ ip: OUTSIDE }] };
  await made(`${core}/pods/${name}/status`, { status }, 'PATCH', 'application/merge-patch+json');
  const targetRef = { kind: 'Pod', namespace: 'default', name };
  const subsets = [{ addresses: [{ ip: OUTSIDE, targetRef }], ports: [{ port }] }];
  await made(`${core}/endpoints`, { metadata: { name }, subsets });
}
