// The kinds of objects that crash rounds write, and the ways in which a client writes one.
import { deployment } from '../integration/objects.ts';
import type { ApiObject } from '../server/https-client.ts';
import { annotationsOf, type KnownObject, TOKEN } from './known-object.ts';

export interface CrashKind {
  /** As in the store's keys. */
  readonly storageKey: string;
  /** Below the API's root, without the namespace. */
  readonly groupVersion: string;
  readonly plural: string;
  readonly body: (name: string, annotations: Readonly<Record<string, string>>) => object;
}

/** The object with annotations in place of none. */
function annotated(object: object, annotations: Readonly<Record<string, string>>): object {
  return { ...object, metadata: { ...(object as ApiObject).metadata, annotations } };
}

export const CRASH_KINDS: readonly CrashKind[] = [
  {
    storageKey: 'core/configmaps',
    groupVersion: '/api/v1',
    plural: 'configmaps',
    body: (name, annotations) =>
      annotated({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { a: '1' } }, annotations),
  },
  {
    storageKey: 'apps/deployments',
    groupVersion: '/apis/apps/v1',
    plural: 'deployments',
    body: (name, annotations) => annotated(deployment(name, 2), annotations),
  },
];

/** The path of a kind's objects in a namespace. */
export function collectionOf({ groupVersion, plural }: CrashKind, namespace: string): string {
  return `${groupVersion}/namespaces/${namespace}/${plural}`;
}

/** One write, ready to be sent. */
export interface Deed {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
  /** What the object's token is then; absent after a deletion. */
  readonly token: string | undefined;
}

type Way = (kind: CrashKind, collection: string, object: KnownObject, token: string) => Deed;

const typed = (type: string): Record<string, string> => ({ 'content-type': type });

function patch(type: string, body: (object: KnownObject, token: string) => object): Way {
  return (_kind, collection, object, token) => ({
    method: 'PATCH',
    path: `${collection}/${object.name}`,
    headers: typed(type),
    body: body(object, token),
    token,
  });
}

const annotate = (_object: KnownObject, token: string): object => ({ metadata: { annotations: annotationsOf(token) } });

const create: Way = (kind, collection, { name }, token) => ({
  method: 'POST',
  path: collection,
  headers: {},
  body: kind.body(name, annotationsOf(token)),
  token,
});

const apply: Way = (kind, collection, { name }, token) => ({
  method: 'PATCH',
  path: `${collection}/${name}?fieldManager=crash&force=true`,
  headers: typed('application/apply-patch+yaml'),
  body: kind.body(name, annotationsOf(token)),
  token,
});

const replace: Way = (kind, collection, { name, state }, token) => {
  const body = kind.body(name, annotationsOf(token)) as ApiObject;
  const metadata = { ...body.metadata, resourceVersion: String(state.version) };
  return { method: 'PUT', path: `${collection}/${name}`, headers: {}, body: { ...body, metadata }, token };
};

const remove: Way = (_kind, collection, { name }) => ({
  method: 'DELETE',
  path: `${collection}/${name}`,
  headers: {},
  token: undefined,
});

const jsonPatch = patch('application/json-patch+json', ({ state }, token) => [
  { op: 'test', path: `/metadata/annotations/${TOKEN}`, value: state.token },
  ...Object.entries(annotationsOf(token)).map(([key, value]) => ({
    op: 'replace',
    path: `/metadata/annotations/${key}`,
    value,
  })),
]);

/** What can be done to an object that is not there, and to one that is. */
export const WAYS_IN: readonly Way[] = [create, create, apply];
export const WAYS_ON: readonly Way[] = [
  replace,
  replace,
  patch('application/merge-patch+json', annotate),
  patch('application/strategic-merge-patch+json', annotate),
  jsonPatch,
  apply,
  remove,
];
