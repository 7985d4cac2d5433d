// Every subresource of every type, in every version that can be served, by the reference table: on objects that exist, each of
// its verbs is served, and no other is. What the verbs do is tested one by one elsewhere.
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Answer, ApiObject } from '../server/https-client.ts';
import { type ServerProcess, sharedServer } from '../server/server-process.ts';

interface SubresourceRow {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

interface Row {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly subresources: readonly SubresourceRow[];
}

const ROWS = readFileSync('test/fixtures/registry/resources.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)
  .filter(({ subresources }) => subresources.length > 0);

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const selector = { matchLabels: { a: 'b' } };
const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } };

/** What makes a smallest object of each kind, besides its name. */
const BODIES: Readonly<Record<string, object>> = {
  APIService: { spec: { group: 'x.test', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 } },
  CertificateSigningRequest: {
    spec: {
      request: Buffer.from(readFileSync('test/fixtures/certificate-requests/user.pem')).toString('base64'),
      signerName: 'example.test/signer',
      usages: ['client auth'],
    },
  },
  CronJob: { spec: { schedule: '* * * * *', jobTemplate } },
  CustomResourceDefinition: {
    spec: {
      group: 'x.test',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
  'CustomResourceDefinition/v1beta1': {
    spec: { group: 'x.test', version: 'v1', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } },
  },
  DaemonSet: { spec: { selector, template } },
  Deployment: { spec: { selector, template } },
  FlowSchema: { spec: { priorityLevelConfiguration: { name: 'global-default' } } },
  HorizontalPodAutoscaler: { spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'x' } } },
  Ingress: { spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } } },
  'Ingress/v1beta1': { spec: { backend: { serviceName: 'x', servicePort: 80 } } },
  Job: { spec: jobTemplate.spec },
  Namespace: {},
  Node: { status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] } },
  PersistentVolume: {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
  },
  PersistentVolumeClaim: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  Pod: { spec: { ...template.spec, schedulerName: 'nobody' } },
  PodDisruptionBudget: { spec: { minAvailable: 1, selector } },
  PriorityLevelConfiguration: {
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } },
  },
  ReplicaSet: { spec: { selector, template } },
  ReplicationController: { spec: { selector: { a: 'b' }, template } },
  ResourceQuota: {},
  Service: { spec: { ports: [{ port: 80 }] } },
  ServiceAccount: {},
  StatefulSet: { spec: { selector, template, serviceName: 'x' } },
  VolumeAttachment: { spec: { attacher: 'x.test', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
};

/** Kinds whose names have to be of a form. */
const NAMES: Readonly<Record<string, string>> = {
  APIService: 'v1.x.test',
  CustomResourceDefinition: 'things.x.test',
  StorageVersion: 'x.test.things',
};

const METHODS: Readonly<Record<string, string>> = {
  create: 'POST',
  delete: 'DELETE',
  get: 'GET',
  patch: 'PATCH',
  update: 'PUT',
};

/** The body of a request that makes sense to a subresource; the object itself to the others. */
const REQUESTS: Readonly<Record<string, object>> = {
  eviction: { metadata: { name: 'it' } },
  token: { spec: { audiences: [] } },
  binding: { metadata: { name: 'it' }, target: { kind: 'Node', name: 'it' } },
};

/** Rows of the table are checked in every version: none is left out because a server does not serve it by default. */
const server = sharedServer(test, {
  args: ['--feature-gates', 'EphemeralContainers=true', '--runtime-config', 'api/all=true'],
});

const collectionOf = ({ group, version, plural, namespaced }: Row): string =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}${namespaced ? '/namespaces/default' : ''}/${plural}`;

async function made({ client }: ServerProcess, row: Row): Promise<string> {
  const name = NAMES[row.kind] ?? 'it';
  const body = { metadata: { name }, ...(BODIES[`${row.kind}/${row.version}`] ?? BODIES[row.kind]) };
  const { status, text } = await client.request('POST', collectionOf(row), { body });
  if (status !== 201 && status !== 409) throw new Error(`${row.kind} could not be made: ${text}`);
  return `${collectionOf(row)}/${name}`;
}

async function asked(at: ServerProcess, path: string, subresource: string, verb: string): Promise<Answer> {
  const method = METHODS[verb]!;
  if (verb === 'get' || verb === 'delete') return at.client.request(method, `${path}/${subresource}`);
  if (verb === 'patch') {
    const headers = { 'content-type': 'application/merge-patch+json' };
    return at.client.request(method, `${path}/${subresource}`, { body: {}, headers });
  }
  if (verb === 'create')
    return at.client.request(method, `${path}/${subresource}`, { body: REQUESTS[subresource] ?? {} });
  // A controller may write the status of what was just made, between what is read here and its update.
  for (;;) {
    const body = await present(at, path, subresource);
    const answer = await at.client.request(method, `${path}/${subresource}`, { body });
    if (answer.status !== 409) return answer;
  }
}

/** What a PUT of a subresource replaces. */
async function present({ client }: ServerProcess, path: string, subresource: string): Promise<ApiObject> {
  const own = await client.get(`${path}/${subresource}`);
  return own.status === 200 ? own.json : (await client.get(path)).json;
}

const CONNECTS = ['attach', 'exec', 'log', 'portforward', 'proxy'];

for (const row of ROWS) {
  for (const subresource of row.subresources) {
    const title = `${row.plural}/${subresource.name} of ${row.group || 'core'}/${row.version}`;
    test.serial(`${title} serves ${subresource.verbs.join(', ')} and no other verb`, async (t) => {
      const at = server();
      const path = await made(at, row);
      // Those that change or remove the object come last.
      for (const verb of ['get', 'update', 'patch', 'delete', 'create']) {
        const answer = await asked(at, path, subresource.name, verb);
        if (!subresource.verbs.includes(verb)) {
          t.is(answer.status, 405, `${verb}: ${answer.text}`);
          continue;
        }
        // The endpoints of a service are others' to make; where they are missing, the service is named, as in the original.
        if (row.plural === 'services' && subresource.name === 'proxy') {
          t.is(answer.json.message, 'services "it" not found', `${verb}: ${answer.text}`);
          continue;
        }
        t.false([404, 405].includes(answer.status), `${verb}: ${answer.text}`);
        if (CONNECTS.includes(subresource.name)) continue;
        t.true([200, 201].includes(answer.status), `${verb}: ${answer.text}`);
        const isStatus = subresource.name === 'eviction' || subresource.name === 'binding';
        const home = `${subresource.group ?? row.group}/${subresource.version ?? row.version}`.replace(/^\//, '');
        t.is(answer.json.kind, isStatus ? 'Status' : subresource.kind, verb);
        t.is(answer.json.apiVersion, isStatus ? 'v1' : home, verb);
      }
    });
  }
}

test('a subresource that a type does not have is not found', async (t) => {
  const { client } = server();
  for (const path of ['/api/v1/namespaces/default/pods/it/scale', '/api/v1/namespaces/default/configmaps/it/status']) {
    const { status, json } = await client.get(path);
    t.is(status, 404);
    t.deepEqual(json.details, {});
  }
});
