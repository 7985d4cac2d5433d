import test from 'ava';
import { tagOf, WIRE_BYTES, WireReader } from '../../../api/codec/wire.ts';
import { buildDocument } from '../../../api/openapi/document.ts';
import { encodeDocument } from '../../../api/openapi/gnostic.ts';
import type { SwaggerDocument, SwaggerOperation, SwaggerSchema } from '../../../api/openapi/swagger.ts';
import { openApi3Documents } from '../../../api/openapi/version3.ts';
import type { ResourceType, Subresource } from '../../../api/resource-type.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import type { Verb } from '../../../api/verbs.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const EVERY_VERB: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

interface Row {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced?: boolean;
  readonly verbs?: readonly Verb[];
  readonly deleteReturns?: 'object';
  readonly subresources?: readonly (Partial<Subresource> & { name: string; verbs: readonly Verb[] })[];
}

function resourceType({
  group = '',
  version = 'v1',
  namespaced = true,
  verbs = EVERY_VERB,
  ...row
}: Row): ResourceType {
  const subresources = (row.subresources ?? []).map((sub): [string, Subresource] => [
    sub.name,
    { kind: row.kind, group, version, featureGate: undefined, ...sub },
  ]);
  return {
    group,
    version,
    apiVersion: group === '' ? version : `${group}/${version}`,
    listKind: `${row.kind}List`,
    singular: row.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced,
    persisted: true,
    storageApiVersion: version,
    storageKey: row.plural,
    selectableFields: [],
    ...row,
    verbs: new Set(verbs),
    subresources: new Map(subresources),
    traits: { deleteReturns: row.deleteReturns ?? 'Status' } as ResourceType['traits'],
  };
}

const rows = ({ groupDomain }: Dialect): readonly Row[] => [
  {
    kind: 'Pod',
    plural: 'pods',
    deleteReturns: 'object',
    subresources: [
      { name: 'status', verbs: ['get', 'patch', 'update'] },
      { name: 'binding', kind: 'Binding', verbs: ['create'] },
      { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1beta1', verbs: ['create'] },
      { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
      { name: 'proxy', kind: 'PodProxyOptions', verbs: ['create', 'delete', 'get', 'patch', 'update'] },
      { name: 'log', kind: 'Pod', verbs: ['get'] },
      { name: 'ephemeralcontainers', kind: 'EphemeralContainers', verbs: ['get'], featureGate: 'EphemeralContainers' },
    ],
  },
  { kind: 'Node', plural: 'nodes', namespaced: false },
  {
    group: `authorization.${groupDomain}`,
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    namespaced: false,
    verbs: ['create'],
  },
  {
    group: `flowcontrol.apiserver.${groupDomain}`,
    version: 'v1beta1',
    kind: 'FlowSchema',
    plural: 'flowschemas',
    namespaced: false,
  },
  {
    group: `apiextensions.${groupDomain}`,
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
  },
  { group: `apiregistration.${groupDomain}`, kind: 'APIService', plural: 'apiservices', namespaced: false },
  {
    group: 'example.com',
    kind: 'Widget',
    plural: 'widgets',
    subresources: [{ name: 'scale', kind: 'Scale', group: 'autoscaling', verbs: ['get', 'patch', 'update'] }],
  },
];

function documentIn(dialect: Dialect, gates: readonly string[] = []): SwaggerDocument {
  return buildDocument(rows(dialect).map(resourceType), schemaOf(dialect), {
    customSchema: () => ({ type: 'object', properties: { size: { type: 'integer' } } }),
    isOn: (gate) => gates.includes(gate),
  });
}

const orch = documentIn(DIALECTS.orch);
const kubernetes = documentIn(DIALECTS.kubernetes);

function operationsOf(document: SwaggerDocument): [string, string, SwaggerOperation][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]): [string, string, SwaggerOperation][] =>
      method === 'parameters' ? [] : [[path, method, operation as SwaggerOperation]],
    ),
  );
}

test('every path of a resource has the operations of its verbs', (t) => {
  const found = operationsOf(orch)
    .filter(([path]) => path.includes('/pods'))
    .map(([path, method, { operationId }]) => `${method} ${path} ${operationId}`);
  const pods = '/api/v1/namespaces/{namespace}/pods';
  t.deepEqual(found.toSorted(), [
    `delete ${pods} deleteCoreV1CollectionNamespacedPod`,
    `delete ${pods}/{name} deleteCoreV1NamespacedPod`,
    `delete ${pods}/{name}/proxy connectCoreV1DeleteNamespacedPodProxy`,
    `delete ${pods}/{name}/proxy/{path} connectCoreV1DeleteNamespacedPodProxyWithPath`,
    `get ${pods} listCoreV1NamespacedPod`,
    `get ${pods}/{name} readCoreV1NamespacedPod`,
    `get ${pods}/{name}/exec connectCoreV1GetNamespacedPodExec`,
    `get ${pods}/{name}/log readCoreV1NamespacedPodLog`,
    `get ${pods}/{name}/proxy connectCoreV1GetNamespacedPodProxy`,
    `get ${pods}/{name}/proxy/{path} connectCoreV1GetNamespacedPodProxyWithPath`,
    `get ${pods}/{name}/status readCoreV1NamespacedPodStatus`,
    'get /api/v1/pods listCoreV1PodForAllNamespaces',
    'get /api/v1/watch/namespaces/{namespace}/pods watchCoreV1NamespacedPodList',
    'get /api/v1/watch/namespaces/{namespace}/pods/{name} watchCoreV1NamespacedPod',
    'get /api/v1/watch/pods watchCoreV1PodListForAllNamespaces',
    `head ${pods}/{name}/proxy connectCoreV1HeadNamespacedPodProxy`,
    `head ${pods}/{name}/proxy/{path} connectCoreV1HeadNamespacedPodProxyWithPath`,
    `options ${pods}/{name}/proxy connectCoreV1OptionsNamespacedPodProxy`,
    `options ${pods}/{name}/proxy/{path} connectCoreV1OptionsNamespacedPodProxyWithPath`,
    `patch ${pods}/{name} patchCoreV1NamespacedPod`,
    `patch ${pods}/{name}/proxy connectCoreV1PatchNamespacedPodProxy`,
    `patch ${pods}/{name}/proxy/{path} connectCoreV1PatchNamespacedPodProxyWithPath`,
    `patch ${pods}/{name}/status patchCoreV1NamespacedPodStatus`,
    `post ${pods} createCoreV1NamespacedPod`,
    `post ${pods}/{name}/binding createCoreV1NamespacedPodBinding`,
    `post ${pods}/{name}/eviction createCoreV1NamespacedPodEviction`,
    `post ${pods}/{name}/exec connectCoreV1PostNamespacedPodExec`,
    `post ${pods}/{name}/proxy connectCoreV1PostNamespacedPodProxy`,
    `post ${pods}/{name}/proxy/{path} connectCoreV1PostNamespacedPodProxyWithPath`,
    `put ${pods}/{name} replaceCoreV1NamespacedPod`,
    `put ${pods}/{name}/proxy connectCoreV1PutNamespacedPodProxy`,
    `put ${pods}/{name}/proxy/{path} connectCoreV1PutNamespacedPodProxyWithPath`,
    `put ${pods}/{name}/status replaceCoreV1NamespacedPodStatus`,
  ]);
});

test('a resource that is only posted has one path', (t) => {
  const found = operationsOf(orch).filter(([path]) => path.includes('subjectaccessreviews'));
  t.deepEqual(
    found.map(([path, method, { operationId }]) => [path, method, operationId]),
    [['/apis/authorization.orch.io/v1/subjectaccessreviews', 'post', 'createAuthorizationV1SubjectAccessReview']],
  );
});

test('a subresource of a gate that is off is left out', (t) => {
  const path = '/api/v1/namespaces/{namespace}/pods/{name}/ephemeralcontainers';
  t.is(orch.paths[path], undefined);
  t.is(
    documentIn(DIALECTS.orch, ['EphemeralContainers']).paths[path]?.get?.operationId,
    'readCoreV1NamespacedPodEphemeralcontainers',
  );
});

test('an operation names its action and kind, and what it takes and answers', (t) => {
  const pods = orch.paths['/api/v1/namespaces/{namespace}/pods']!;
  const { get, post, delete: deleteCollection } = pods;
  t.is(get?.['x-orch-action' as `x-${string}`], 'list');
  t.deepEqual(get?.['x-orch-group-version-kind'], { group: '', version: 'v1', kind: 'Pod' });
  t.deepEqual(get?.responses[200], {
    description: 'OK',
    schema: { $ref: '#/definitions/io.orch.api.core.v1.PodList' },
  });
  t.deepEqual(
    get?.parameters?.map(({ name, type }) => `${name} ${type}`),
    [
      'allowWatchBookmarks boolean',
      'continue string',
      'fieldSelector string',
      'labelSelector string',
      'limit integer',
      'resourceVersion string',
      'resourceVersionMatch string',
      'timeoutSeconds integer',
      'watch boolean',
    ],
  );
  t.deepEqual(
    post?.parameters?.map(({ name }) => name),
    ['body', 'dryRun', 'fieldManager', 'fieldValidation'],
  );
  t.deepEqual(Object.keys(post?.responses ?? {}), ['200', '201', '202', '401']);
  t.true(deleteCollection?.parameters?.some(({ name }) => name === 'propagationPolicy'));
  t.false(deleteCollection?.parameters?.some(({ name }) => name === 'watch'));
  const one = orch.paths['/api/v1/namespaces/{namespace}/pods/{name}']!;
  t.deepEqual(
    one.parameters?.map(({ name }) => name),
    ['name', 'namespace', 'pretty'],
  );
  t.deepEqual(
    one.patch?.parameters?.map(({ name }) => name),
    ['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force'],
  );
  t.true(one.patch?.consumes?.includes('application/strategic-merge-patch+json'));
  t.is(one.delete?.responses[200]?.schema?.$ref, '#/definitions/io.orch.api.core.v1.Pod');
  const eviction = orch.paths['/api/v1/namespaces/{namespace}/pods/{name}/eviction']!.post;
  t.deepEqual(eviction?.['x-orch-group-version-kind'], { group: 'policy', version: 'v1beta1', kind: 'Eviction' });
  const node = orch.paths['/api/v1/nodes/{name}']!;
  t.is(node.delete?.responses[200]?.schema?.$ref, '#/definitions/io.orch.apimachinery.pkg.apis.meta.v1.Status');
});

test('what is connected to takes the options of the connection, and none for the form of an answer', (t) => {
  const namesAt = (path: string) => kubernetes.paths[path]?.parameters?.map(({ name }) => name);
  const pod = '/api/v1/namespaces/{namespace}/pods/{name}';
  const ofExec = ['command', 'container', 'stderr', 'stdin', 'stdout', 'tty'];
  t.deepEqual(namesAt(`${pod}/exec`), ['name', 'namespace', ...ofExec]);
  t.deepEqual(namesAt(`${pod}/proxy`), ['name', 'namespace', 'path']);
  t.deepEqual(namesAt(`${pod}/proxy/{path}`), ['name', 'namespace', 'path', 'path']);
  t.true(namesAt(`${pod}/log`)?.includes('pretty'));
});

test('ids are unique, and every reference and path parameter is declared', (t) => {
  const operations = operationsOf(kubernetes);
  t.is(new Set(operations.map(([, , { operationId }]) => operationId)).size, operations.length);
  for (const [path, item] of Object.entries(kubernetes.paths)) {
    const declared = item.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name) ?? [];
    const used = [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => name!);
    t.deepEqual(declared.toSorted(), used.toSorted(), path);
  }
  const references = JSON.stringify(kubernetes).matchAll(/"#\/definitions\/([^"]+)"/g);
  for (const [, name] of references) t.truthy(kubernetes.definitions[name!], name);
});

/** Without its description, which openapi-descriptions.test.ts is about. */
function wordless(schema: SwaggerSchema | undefined): SwaggerSchema {
  const { description: _, ...rest } = schema ?? {};
  return rest;
}

test('a definition has the properties, required members and extensions of its type', (t) => {
  const definitions = orch.definitions;
  const container = definitions['io.orch.api.core.v1.Container']!;
  t.deepEqual(container.required, ['name']);
  t.deepEqual(wordless(container.properties?.ports), {
    type: 'array',
    items: { $ref: '#/definitions/io.orch.api.core.v1.ContainerPort' },
    'x-orch-list-map-keys': ['containerPort', 'protocol'],
    'x-orch-list-type': 'map',
    'x-orch-patch-merge-key': 'containerPort',
    'x-orch-patch-strategy': 'merge',
  });
  t.deepEqual(wordless(definitions['io.orch.api.core.v1.ContainerPort']?.properties?.protocol), {
    type: 'string',
    default: 'TCP',
  });
  t.deepEqual(definitions['io.orch.api.core.v1.Pod']?.['x-orch-group-version-kind'], [
    { group: '', version: 'v1', kind: 'Pod' },
  ]);
  t.is(definitions['io.orch.apimachinery.pkg.apis.meta.v1.LabelSelector']?.['x-orch-map-type'], 'atomic');
  t.deepEqual(definitions['io.orch.api.flowcontrol.v1beta1.Subject']?.['x-orch-unions'], [
    {
      discriminator: 'kind',
      'fields-to-discriminateBy': { group: 'Group', serviceAccount: 'ServiceAccount', user: 'User' },
    },
  ]);
  t.deepEqual(wordless(definitions['io.orch.apimachinery.pkg.api.resource.Quantity']), { type: 'string' });
  t.deepEqual(wordless(definitions['io.orch.apimachinery.pkg.util.intstr.IntOrString']), {
    type: 'string',
    format: 'int-or-string',
  });
  t.deepEqual(wordless(definitions['io.orch.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON']), {});
  t.truthy(definitions['io.orch.api.core.v1.Volume']?.properties?.emptyDir);
  t.deepEqual(wordless(definitions['io.orch.api.authorization.v1.SubjectAccessReviewSpec']?.properties?.extra), {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  });
  const groups = definitions['io.orch.apimachinery.pkg.apis.meta.v1.DeleteOptions']?.['x-orch-group-version-kind'];
  t.is((groups as unknown[]).length, 6);
});

test('names and extensions follow the dialect', (t) => {
  t.is(kubernetes.info.title, 'Kubernetes');
  t.truthy(kubernetes.definitions['io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService']);
  t.truthy(orch.definitions['io.orch.orch-aggregator.pkg.apis.apiregistration.v1.APIService']);
  t.false(JSON.stringify(kubernetes).includes('orch.'));
  t.false(JSON.stringify(orch).includes('kube'));
});

test('a custom kind has its own schema and a list', (t) => {
  t.like(orch.definitions['com.example.v1.Widget'], {
    properties: { size: { type: 'integer' } },
    'x-orch-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
  });
  t.deepEqual(wordless(orch.definitions['com.example.v1.WidgetList']?.properties?.items), {
    type: 'array',
    items: { $ref: '#/definitions/com.example.v1.Widget' },
  });
  const path = orch.paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}'];
  t.is(path?.get?.responses[200]?.schema?.$ref, '#/definitions/com.example.v1.Widget');
  t.false(path?.patch?.consumes?.includes('application/strategic-merge-patch+json'));
});

test('a custom kind takes no built-in definition away, whatever name its group comes to', (t) => {
  const custom: readonly Row[] = [
    { group: 'core.api.orch.io', kind: 'Pod', plural: 'pods' },
    { group: 'meta.apis.pkg.apimachinery.orch.io', kind: 'ObjectMeta', plural: 'objectmetas' },
    { group: 'meta.apis.pkg.apimachinery.orch.io', kind: 'Patch', plural: 'patches' },
    // Of a type that nothing refers to here.
    { group: 'batch.api.orch.io', kind: 'Job', plural: 'jobs' },
  ];
  const [dialect, before] = [DIALECTS.orch, orch.definitions];
  const types = [...rows(dialect), ...custom].map(resourceType);
  const options = { customSchema: () => ({ type: 'object' }) };
  const { definitions, paths } = buildDocument(types, schemaOf(dialect), options);
  for (const name of ['api.core.v1.Pod', 'apimachinery.pkg.apis.meta.v1.ObjectMeta', 'api.core.v1.PodList'])
    t.deepEqual(definitions[`io.orch.${name}`], before[`io.orch.${name}`], name);
  t.deepEqual(
    custom.map(({ group = '', kind }) => {
      const shown = JSON.stringify([{ group, version: 'v1', kind }]);
      const isOfKind = (name: string) => JSON.stringify(definitions[name]!['x-orch-group-version-kind']) === shown;
      return Object.keys(definitions).filter(isOfKind).join();
    }),
    [
      'io.orch.api.core.v1.Pod_v2',
      'io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta_v2',
      'io.orch.apimachinery.pkg.apis.meta.v1.Patch_v2',
      'io.orch.api.batch.v1.Job_v2',
    ],
  );
  const path = paths['/apis/core.api.orch.io/v1/namespaces/{namespace}/pods/{name}'];
  t.is(path?.get?.responses[200]?.schema?.$ref, '#/definitions/io.orch.api.core.v1.Pod_v2');
  t.is(
    definitions['io.orch.api.core.v1.Pod_v2']?.properties?.metadata?.$ref,
    '#/definitions/io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  );
});

test('an operation on the scale of a custom object names its kind, and shows a scale', (t) => {
  const path = orch.paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale'];
  const kind = { group: 'example.com', version: 'v1', kind: 'Widget' };
  for (const method of ['get', 'put', 'patch'] as const)
    t.like(path?.[method], { 'x-orch-group-version-kind': kind }, method);
  t.is(path?.get?.responses[200]?.schema?.$ref, '#/definitions/io.orch.api.autoscaling.v1.Scale');
});

test('the metadata of custom objects and of their lists is described as that of others', (t) => {
  const described = (name: string) => orch.definitions[name]?.properties?.metadata?.description ?? 'nothing';
  t.is(described('com.example.v1.Widget'), described('io.orch.api.core.v1.Pod'));
  t.is(described('com.example.v1.WidgetList'), described('io.orch.api.core.v1.PodList'));
  t.not(described('com.example.v1.Widget'), 'nothing');
});

test('custom objects are taken and answered as text, and have no deprecated paths for watching', (t) => {
  const widgets = operationsOf(orch).filter(([path]) => path.includes('/widgets'));
  t.true(widgets.length > 0);
  t.deepEqual(
    widgets.filter(([path]) => path.includes('/watch/')),
    [],
  );
  const texts = ['application/json', 'application/yaml'];
  for (const [path, method, { consumes, produces }] of widgets) {
    t.deepEqual(produces, texts, `${method} ${path}`);
    if (method !== 'patch') t.deepEqual(consumes, texts, `${method} ${path}`);
  }
});

test('discovery and the version are in the document', (t) => {
  for (const path of ['/version/', '/api/', '/apis/', '/api/v1/', '/apis/example.com/', '/apis/example.com/v1/']) {
    t.truthy(orch.paths[path]?.get, path);
  }
});

test('what tokens are verified with is in the document, and has documents of its own in version 3', (t) => {
  const paths = {
    '/.well-known/openid-configuration/': 'application/json',
    '/openid/v1/jwks/': 'application/jwk-set+json',
  };
  const documents = openApi3Documents(orch);
  for (const [path, type] of Object.entries(paths)) {
    const get = orch.paths[path]?.get;
    t.deepEqual([get?.produces, get?.responses[200]?.schema], [[type], { type: 'string' }]);
    t.false(Object.hasOwn(get ?? {}, 'consumes'), 'nothing is sent to it');
    t.deepEqual(Object.keys(documents.get(path.slice(1, -1))?.paths ?? {}), [path]);
  }
});

const text = (number: number, value: string): number[] => {
  const bytes = Buffer.from(value);
  return [tagOf(number, WIRE_BYTES), bytes.length, ...bytes];
};
const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, value >> 7]);
const message = (number: number, ...parts: number[][]): number[] => {
  const bytes = parts.flat();
  return [...varint(tagOf(number, WIRE_BYTES)), ...varint(bytes.length), ...bytes];
};

test('a definition has known bytes in Protobuf', (t) => {
  const document = {
    swagger: '2.0',
    definitions: {
      A: {
        type: 'object',
        required: ['x-b'],
        properties: {
          'x-b': { $ref: '#/A' },
          c: { type: 'array', items: { type: 'string' } },
          d: { additionalProperties: true },
        },
        'x-k': [1],
      },
    },
  } as unknown as SwaggerDocument;
  const schema = [
    message(22, text(1, 'object')),
    [0x9a, 0x01, 3, ...Buffer.from('x-b')],
    message(
      25,
      message(1, text(1, 'x-b'), message(2, text(1, '#/A'))),
      message(
        1,
        text(1, 'c'),
        message(2, message(22, text(1, 'array')), message(23, message(1, message(22, text(1, 'string'))))),
      ),
      message(1, text(1, 'd'), message(2, message(21, [0x10, 1]))),
    ),
    message(31, text(1, 'x-k'), message(2, text(2, '[1]'))),
  ];
  const expected = [...text(1, '2.0'), ...message(9, message(1, text(1, 'A'), message(2, ...schema)))];
  t.is(encodeDocument(document).toString('hex'), Buffer.from(expected).toString('hex'));
});

test('an operation has known bytes in Protobuf', (t) => {
  const document = {
    paths: {
      '/a': {
        get: {
          operationId: 'x',
          responses: { 200: { description: 'OK', schema: { type: 'string' } } },
        },
        parameters: [
          { name: 'p', in: 'path', required: true },
          { name: 'q', in: 'query', uniqueItems: true },
          { name: 'body', in: 'body', schema: { $ref: 'r' } },
        ],
      },
    },
    security: [{ B: [] }],
  } as unknown as SwaggerDocument;
  const schema = message(1, message(22, text(1, 'string')));
  const response = message(1, text(1, '200'), message(2, message(1, text(1, 'OK'), message(2, schema))));
  const operation = [...text(5, 'x'), ...message(9, response)];
  const path = message(1, message(2, message(4, text(4, 'p'), text(2, 'path'), [0x08, 1])));
  const query = message(1, message(2, message(3, text(4, 'q'), text(2, 'query'), [0xa0, 0x01, 1])));
  const body = message(1, message(1, text(2, 'body'), text(3, 'body'), message(5, text(1, 'r'))));
  const item = [message(2, operation), message(9, path), message(9, query), message(9, body)];
  const expected = [
    ...message(8, message(2, text(1, '/a'), message(2, ...item))),
    ...message(12, message(1, text(1, 'B'), message(2))),
  ];
  t.is(encodeDocument(document).toString('hex'), Buffer.from(expected).toString('hex'));
});

test('the whole document in Protobuf has every path and definition', (t) => {
  const names = (field: number, inner: number): string[] => {
    const found: string[] = [];
    const reader = new WireReader(encodeDocument(kubernetes));
    while (reader.at < reader.end) {
      const tag = reader.varint();
      if (tag !== tagOf(field, WIRE_BYTES)) {
        reader.skip(tag & 7);
        continue;
      }
      const end = reader.enter();
      while (reader.at < reader.end) {
        t.is(reader.varint(), tagOf(inner, WIRE_BYTES));
        const pairEnd = reader.enter();
        t.is(reader.varint(), tagOf(1, WIRE_BYTES));
        found.push(reader.text());
        reader.leave(pairEnd);
      }
      reader.leave(end);
    }
    return found;
  };
  t.deepEqual(names(9, 1), Object.keys(kubernetes.definitions));
  t.deepEqual(names(8, 2), Object.keys(kubernetes.paths));
});
