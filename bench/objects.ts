// The objects the loads write, as JSON text of an exact size. `"seq"` is what events are recognised by. Nothing here
// spells a brand, so the texts fit both dialects.
import type { RequestTemplate } from './load-protocol.ts';
import { withPlaceholders } from './request-template.ts';

export const BENCH_NAMESPACE = 'bench';

/** Of every object: what the watches' selectors can name. */
const LABELS = { app: 'bench', tier: 'load' };
/** Names a scheduler that does not exist: such a pod stays as it was written. */
const NO_SCHEDULER = 'none';

/** What an answer with an object that was sent in so many bytes has at least, in Protobuf too: most of it is text that stays as it is. */
export function leastAnswer(bytes: number): number {
  return Math.floor(bytes / 2);
}

/** That many characters of text that compresses about as badly as base-36 identifiers do. Always the same. */
export function fillerText(length: number): string {
  let text = '';
  let state = 12345;
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, Math.max(0, length));
}

/** Fills up to `bytes`, counted with the tokens at their full width. Too large an object stays as it is. */
function sized(bytes: number, build: (filler: string) => object): string {
  // The token stands as a bare value where a JSON string will be.
  const text = (filler: string): string => JSON.stringify(build(filler)).replaceAll('"{version}"', '{version}');
  const missing = bytes - Buffer.byteLength(withPlaceholders(text('')));
  return text(fillerText(missing));
}

/** A config map of `bytes` bytes. */
export function configMap(name: string, bytes: number): string {
  return sized(bytes, (filler) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: LABELS },
    data: { seq: '{seq}', filler },
  }));
}

/** The same, to be put under the version it had when last seen. */
export function configMapUpdate(name: string, bytes: number): string {
  return sized(bytes, (filler) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: LABELS, resourceVersion: '{version}' },
    data: { seq: '{seq}', filler },
  }));
}

/** A merge patch that changes one field. */
export const CONFIG_MAP_PATCH = '{"data":{"seq":"{seq}"}}';

/** A pod of `bytes` bytes as deployments make them. `scheduled: false` names a scheduler that never comes. */
export function pod(name: string, bytes: number, { scheduled }: { readonly scheduled: boolean }): string {
  return sizedPod({ name }, bytes, scheduled ? {} : { schedulerName: NO_SCHEDULER });
}

/** The same, to be put under the version it had when last seen: nobody schedules it, so its spec stays as it was made. */
export function podUpdate(name: string, bytes: number): string {
  return sizedPod({ name, resourceVersion: '{version}' }, bytes, { schedulerName: NO_SCHEDULER });
}

function sizedPod(metadata: object, bytes: number, spec: object): string {
  return sized(bytes, (filler) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, labels: { ...LABELS, seq: '{seq}' }, annotations: { filler } },
    spec: { ...spec, ...POD_SPEC },
  }));
}

/** A pod of `bytes` bytes for a scheduler, with members of its spec beside or in the place of the usual ones. */
export function podLike(
  name: string,
  bytes: number,
  { labels, requests, spec }: { readonly labels: object; readonly requests: object | undefined; readonly spec: object },
): string {
  const [container] = POD_SPEC.containers;
  const containers = requests === undefined ? POD_SPEC.containers : [{ ...container, resources: { requests } }];
  return sized(bytes, (filler) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { ...LABELS, ...labels }, annotations: { filler } },
    spec: { ...POD_SPEC, containers, ...spec },
  }));
}

/** What the server would add at the creation alone is said here, so that a PUT says the same. */
const POD_SPEC = {
  serviceAccountName: 'default',
  automountServiceAccountToken: false,
  containers: [
    {
      name: 'main',
      image: 'registry.example/bench/main:1.0',
      args: ['--listen=:8080', '--level=info'],
      env: [
        { name: 'MODE', value: 'bench' },
        { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      ports: [{ name: 'http', containerPort: 8080 }],
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    },
  ],
};

/** A deployment of `bytes` bytes. */
export function deployment(name: string, bytes: number): string {
  return sized(bytes, (filler) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { ...LABELS, seq: '{seq}' }, annotations: { filler } },
    spec: {
      replicas: 3,
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS }, spec: POD_SPEC },
    },
  }));
}

/** A patch, of either kind, that changes one label. */
export const POD_PATCH = '{"metadata":{"labels":{"seq":"{seq}"}}}';

/** A node with room for `pods` pods of the kind above. */
export function node(name: string, pods: number): string {
  const capacity = { cpu: String(Math.ceil(pods / 10) + 1), memory: `${pods * 64 + 1024}Mi`, pods: String(pods) };
  return nodeLike(name, {}, capacity);
}

/** A node with labels of its own, and with so much of everything. */
export function nodeLike(name: string, labels: object, capacity: object): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { zone: 'bench', seq: '{seq}', ...labels } },
    status: {
      capacity,
      allocatable: capacity,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Bench', message: 'load' }],
    },
  });
}

/** Collections the loads write to. */
export const PATHS = {
  configMaps: `/api/v1/namespaces/${BENCH_NAMESPACE}/configmaps`,
  pods: `/api/v1/namespaces/${BENCH_NAMESPACE}/pods`,
  deployments: `/apis/apps/v1/namespaces/${BENCH_NAMESPACE}/deployments`,
  nodes: '/api/v1/nodes',
  customObjects: `/apis/bench.example.com/v1/namespaces/${BENCH_NAMESPACE}/benchthings`,
} as const;

/** Creates of a body in a collection. */
export function createRequest(path: string, body: string): RequestTemplate {
  return { method: 'POST', path, body };
}

export const DEFINED_GROUP = 'bench.example.com';
const DEFINED_KIND = 'BenchThing';

/** A custom object of `bytes` bytes. */
export function customObject(name: string, bytes: number): string {
  return sized(bytes, (filler) => ({
    apiVersion: `${DEFINED_GROUP}/v1`,
    kind: DEFINED_KIND,
    metadata: { name, labels: LABELS },
    spec: { seq: '{seq}', filler, replicas: 3, parts: [{ name: 'a', size: 1 }] },
  }));
}

/** A merge patch that changes one field of it. */
export const CUSTOM_PATCH = '{"spec":{"seq":"{seq}"}}';

/** A definition in the group of definitions that the server has, whose schema has about so many bytes. */
export function definition(group: string, plural: string, schemaBytes: number): string {
  const text = { type: 'string', minLength: 1, description: 'One of the members of the kind, as its author words it.' };
  const spec: Record<string, object> = {
    seq: { type: 'string' },
    filler: { type: 'string' },
    replicas: { type: 'integer', minimum: 0, default: 1 },
    parts: {
      type: 'array',
      items: { type: 'object', required: ['name'], properties: { name: text, size: { type: 'integer' } } },
    },
  };
  for (let index = 0; JSON.stringify(spec).length < schemaBytes; index++) spec[`member${index}`] = text;
  const kind = plural === 'benchthings' ? DEFINED_KIND : `${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: spec } } };
  return JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${DEFINED_GROUP}` },
    spec: {
      group: DEFINED_GROUP,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
}
