// The shapes of request paths and what they mean.
import test from 'ava';
import { parseQuery } from '../../../api/requests/query.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import { authorizationNamespace, parseRequestInfo } from '../../../api/requests/request-info.ts';

type Expected = Partial<ResourceRequestInfo>;

const NOTHING: ResourceRequestInfo = {
  isResource: true,
  verb: '',
  group: '',
  version: 'v1',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  rest: '',
};

const RESOURCES: readonly (readonly [request: string, expected: Expected])[] = [
  ['GET /api/v1/nodes', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes/', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes/n1', { verb: 'get', resource: 'nodes', name: 'n1' }],
  ['GET /api/v1/nodes/n1/', { verb: 'get', resource: 'nodes', name: 'n1' }],
  ['HEAD /api/v1/nodes/n1', { verb: 'get', resource: 'nodes', name: 'n1' }],
  ['HEAD /api/v1/nodes', { verb: 'list', resource: 'nodes' }],
  ['POST /api/v1/nodes', { verb: 'create', resource: 'nodes' }],
  ['PUT /api/v1/nodes/n1', { verb: 'update', resource: 'nodes', name: 'n1' }],
  ['PATCH /api/v1/nodes/n1', { verb: 'patch', resource: 'nodes', name: 'n1' }],
  ['DELETE /api/v1/nodes/n1', { verb: 'delete', resource: 'nodes', name: 'n1' }],
  ['DELETE /api/v1/nodes', { verb: 'deletecollection', resource: 'nodes' }],
  ['OPTIONS /api/v1/nodes', { verb: '', resource: 'nodes' }],
  ['constructor /api/v1/nodes', { verb: '', resource: 'nodes' }],
  ['GET /api/v1/pods', { verb: 'list', resource: 'pods' }],
  ['GET /api/v1/namespaces/ns/pods', { verb: 'list', resource: 'pods', namespace: 'ns' }],
  ['GET /api/v1/namespaces/ns/pods/p', { verb: 'get', resource: 'pods', namespace: 'ns', name: 'p' }],
  [
    'PUT /api/v1/namespaces/ns/pods/p/status',
    { verb: 'update', resource: 'pods', namespace: 'ns', name: 'p', subresource: 'status' },
  ],
  [
    'PUT /api/v1/namespaces/ns/pods/p/status/',
    { verb: 'update', resource: 'pods', namespace: 'ns', name: 'p', subresource: 'status' },
  ],
  [
    'PUT /api/v1/namespaces/ns/pods/p/status/x',
    { verb: 'update', resource: 'pods', namespace: 'ns', name: 'p', subresource: 'status', rest: '/x' },
  ],
  ['GET /api/v1/namespaces', { verb: 'list', resource: 'namespaces' }],
  ['GET /api/v1/namespaces/ns', { verb: 'get', resource: 'namespaces', name: 'ns' }],
  ['GET /api/v1/namespaces/ns/', { verb: 'get', resource: 'namespaces', name: 'ns' }],
  [
    'PUT /api/v1/namespaces/ns/finalize',
    { verb: 'update', resource: 'namespaces', name: 'ns', subresource: 'finalize' },
  ],
  ['GET /api/v1/namespaces/ns/status', { verb: 'get', resource: 'namespaces', name: 'ns', subresource: 'status' }],
  ['GET /api/v1/namespaces/status/pods', { verb: 'list', resource: 'pods', namespace: 'status' }],
  ['GET /api/v1/namespaces/namespaces/pods', { verb: 'list', resource: 'pods', namespace: 'namespaces' }],
  ['GET /api/v1/namespaces/ns/namespaces/x', { verb: 'get', resource: 'namespaces', namespace: 'ns', name: 'x' }],
  [
    'GET /apis/apps/v1/namespaces/ns/deployments/d/scale',
    { verb: 'get', group: 'apps', resource: 'deployments', namespace: 'ns', name: 'd', subresource: 'scale' },
  ],
  ['GET /apis/a.b.c/v2beta1/things', { verb: 'list', group: 'a.b.c', version: 'v2beta1', resource: 'things' }],
  ['GET /api/v1/watch/pods', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/watch/namespaces', { verb: 'watch', resource: 'namespaces' }],
  ['GET /api/v1/watch/namespaces/ns', { verb: 'watch', resource: 'namespaces', name: 'ns' }],
  ['GET /api/v1/watch/namespaces/ns/pods', { verb: 'watch', resource: 'pods', namespace: 'ns' }],
  [
    'GET /apis/apps/v1/watch/namespaces/ns/deployments/d',
    { verb: 'watch', group: 'apps', resource: 'deployments', namespace: 'ns', name: 'd' },
  ],
  ['GET /api/v1/proxy/nodes/n1', { verb: 'proxy', resource: 'nodes', name: 'n1' }],
  [
    'GET /api/v1/namespaces/ns/services/s/proxy',
    { verb: 'get', resource: 'services', namespace: 'ns', name: 's', subresource: 'proxy' },
  ],
  [
    'GET /api/v1/namespaces/ns/services/s/proxy/',
    { verb: 'get', resource: 'services', namespace: 'ns', name: 's', subresource: 'proxy', rest: '/' },
  ],
  [
    'POST /api/v1/nodes/n1/proxy/a//b/../c/',
    { verb: 'create', resource: 'nodes', name: 'n1', subresource: 'proxy', rest: '/a//b/../c/' },
  ],
  ['GET /api/v1/pods?watch=1', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/pods?watch=true', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/pods?watch=True', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/pods?watch=t', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/pods?limit=5&watch', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/pods?%77atch=1', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/pods?watch=0', { verb: 'list', resource: 'pods' }],
  ['GET /api/v1/pods?watch=false', { verb: 'list', resource: 'pods' }],
  ['GET /api/v1/pods?watch=FALSE&watch=1', { verb: 'list', resource: 'pods' }],
  ['GET /api/v1/pods?notwatch=1', { verb: 'list', resource: 'pods' }],
  ['GET /api/v1/nodes/n1?watch=1', { verb: 'get', resource: 'nodes', name: 'n1' }],
  ['POST /api/v1/nodes?watch=1', { verb: 'create', resource: 'nodes' }],
  ['GET /api/v1/nodes?watch=1&fieldSelector=metadata.name=n1', { verb: 'watch', resource: 'nodes', name: 'n1' }],
  ['GET /api/v1/nodes?fieldSelector=metadata.name%3Dn1', { verb: 'list', resource: 'nodes', name: 'n1' }],
  [
    'GET /api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue%2Cmetadata.name%3D%3Dn1',
    { verb: 'list', resource: 'nodes', name: 'n1' },
  ],
  ['GET /api/v1/nodes?fieldSelector=metadata.name!=n1', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes?fieldSelector=spec.x=metadata.name', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes?fieldSelector=metadata.name=a/b', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes?fieldSelector=metadata.name=..', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes?fieldSelector=metadata.name%3Da%5C%2Cb', { verb: 'list', resource: 'nodes' }],
  ['DELETE /api/v1/nodes?fieldSelector=metadata.name=n1', { verb: 'deletecollection', resource: 'nodes' }],
  ['GET /api/v1/namespaces//pods', { verb: 'list', resource: 'pods' }],
  ['GET /api/v1/namespaces//pods?watch=1', { verb: 'watch', resource: 'pods' }],
  ['GET /api/v1/watch/namespaces//pods', { verb: 'watch', resource: 'pods' }],
  [
    'DELETE /apis/apps/v1/namespaces//deployments/',
    { verb: 'deletecollection', group: 'apps', resource: 'deployments' },
  ],
  ['GET /api/v1/namespaces//pods/p/log', { verb: 'get', resource: 'pods', name: 'p', subresource: 'log' }],
  ['GET /api/v1/nodes/a%20b', { verb: 'get', resource: 'nodes', name: 'a b' }],
  ['GET /api/v1/nodes/a%2Fstatus', { verb: 'get', resource: 'nodes', name: 'a', subresource: 'status' }],
  ['GET /api/v1/nodes/%E2%82%AC', { verb: 'get', resource: 'nodes', name: '€' }],
  ['GET /api/v1/nodes/a+b', { verb: 'get', resource: 'nodes', name: 'a+b' }],
  ['GET /api/v1/nodes/a.b', { verb: 'get', resource: 'nodes', name: 'a.b' }],
];

function parse(request: string) {
  const [method, address] = request.split(' ', 2) as [string, string];
  const mark = address.indexOf('?');
  return mark < 0
    ? parseRequestInfo(method, address, '')
    : parseRequestInfo(method, address.slice(0, mark), address.slice(mark + 1));
}

for (const [request, expected] of RESOURCES) {
  test(`${request} is about a resource`, (t) => {
    t.deepEqual(parse(request), { ...NOTHING, ...expected });
  });
}

const PATHS: readonly (readonly [request: string, verb: string, path: string])[] = [
  ['GET /', 'get', '/'],
  ['GET /healthz', 'get', '/healthz'],
  ['POST /healthz', 'post', '/healthz'],
  ['GET /api', 'get', '/api'],
  ['GET /api/v1', 'get', '/api/v1'],
  ['GET /api/v1/', 'get', '/api/v1/'],
  ['GET /apis/apps', 'get', '/apis/apps'],
  ['GET /apis/apps/v1', 'get', '/apis/apps/v1'],
  ['GET /apis/apps/v1/', 'get', '/apis/apps/v1/'],
  ['GET /apis//v1/deployments', 'get', '/apis//v1/deployments'],
  ['GET /api//pods', 'get', '/api//pods'],
  ['GET /api/v1//pods', 'get', '/api/v1//pods'],
  ['GET /api/v1/namespaces///pods', 'get', '/api/v1/namespaces///pods'],
  ['GET /api/v1/namespaces//pods//status', 'get', '/api/v1/namespaces//pods//status'],
  ['PUT /api/v1/namespaces//status', 'put', '/api/v1/namespaces//status'],
  ['GET /api/v1/pods//status', 'get', '/api/v1/pods//status'],
  ['GET //api/v1/pods', 'get', '//api/v1/pods'],
  ['GET /apiservices/v1/pods', 'get', '/apiservices/v1/pods'],
  ['OPTIONS *', 'options', '*'],
  ['GET /openapi%2Fv2', 'get', '/openapi/v2'],
];

for (const [request, verb, path] of PATHS) {
  test(`${request} is about a path`, (t) => {
    t.deepEqual(parse(request), { isResource: false, verb, path });
  });
}

const BAD: readonly (readonly [request: string, reason: RegExp])[] = [
  ['GET /api/v1/pods/%', /percent-encoded/],
  ['GET /api/v1/pods/%zz', /percent-encoded/],
  ['GET /api/v1/pods/%FF', /percent-encoded/],
  ['GET /metrics%', /percent-encoded/],
  ['GET /api/v1/pods/a%00b', /control character/],
  ['GET /api/v1/pods/..', /^Name parameter invalid: "\.\.": may not be '\.\.'$/],
  ['GET /api/v1/namespaces/../pods', /^Name parameter invalid: "\.\.": may not be '\.\.'$/],
  ['GET /api/v1/namespaces/%2E%2E/pods', /^Name parameter invalid: "\.\.": may not be '\.\.'$/],
  ['GET /api/v1/pods/./status', /^Name parameter invalid: "\.": may not be '\.'$/],
  ['GET /api/v1/nodes/a%252Fb', /^Name parameter invalid: "a%2Fb": may not contain '%'$/],
  ['GET /api/v1/namespaces/x/pods/a%25b', /^Name parameter invalid: "a%b": may not contain '%'$/],
  ['GET /api/v1/watch', /watch needs a resource/],
  ['GET /api/v1/proxy/', /proxy needs a resource/],
  ['GET /api/v1/pods?watch=%', /query is not properly percent-encoded/],
  [`GET /api/v1/pods?${'a&'.repeat(4097)}`, /more than 4096/],
];

for (const [request, reason] of BAD) {
  test(`${request.slice(0, 60)} is a bad request`, (t) => {
    const info = parse(request);
    t.false(info.isResource);
    t.regex((info as { badRequest?: string }).badRequest ?? '', reason);
  });
}

test('a path of nothing but slashes, however long, is read in one pass', (t) => {
  t.false(parseRequestInfo('GET', '/'.repeat(100_000), '').isResource);
  const info = parseRequestInfo('GET', `/api/v1/nodes/n/proxy${'/'.repeat(100_000)}`, '');
  t.is((info as ResourceRequestInfo).rest.length, 100_000);
});

test('a query wrapped beforehand is read the same way', (t) => {
  const info = parseRequestInfo('GET', '/api/v1/pods', parseQuery('watch=1'));
  t.is(info.verb, 'watch');
});

test('a request on a namespace is authorized inside it', (t) => {
  const namespaceOf = (request: string) => authorizationNamespace(parse(request) as ResourceRequestInfo);
  t.is(namespaceOf('GET /api/v1/namespaces/ns'), 'ns');
  t.is(namespaceOf('PUT /api/v1/namespaces/ns/finalize'), 'ns');
  t.is(namespaceOf('GET /api/v1/namespaces'), '');
  t.is(namespaceOf('GET /api/v1/namespaces?fieldSelector=metadata.name=ns'), '');
  t.is(namespaceOf('GET /api/v1/namespaces/ns/pods/p'), 'ns');
  t.is(namespaceOf('GET /apis/other/v1/namespaces/ns'), '');
});

test('a path whose beginning was read before means what it would without', (t) => {
  const segments = ['namespaces', 'pods', 'ns', 'status', 'finalize', 'watch', 'proxy', 'p', '.', '..', 'a b', ''];
  const roots = ['/api/v1', '/apis/apps/v1', '/apis/apps', '/healthz'];
  const paths = roots.flatMap((root) => [root, ...pathsBelow(root, segments, 4)]);
  for (const path of paths) {
    for (const method of ['GET', 'DELETE']) {
      for (const last of ['x', path.slice(path.lastIndexOf('/') + 1), 'status']) {
        const named = path.slice(0, path.lastIndexOf('/') + 1) + last;
        parseRequestInfo('PUT', `${path.slice(0, path.lastIndexOf('/') + 1)}another`, '');
        // What is encoded is read anew each time.
        const encoded = `${named.slice(0, 1)}%61${named.slice(2)}`;
        if (decodeURIComponent(encoded) !== named) continue;
        t.deepEqual(parseRequestInfo(method, named, ''), parseRequestInfo(method, encoded, ''));
      }
    }
  }
});

/** Some of the paths of so many segments at most. */
function pathsBelow(root: string, segments: readonly string[], depth: number): string[] {
  const below = segments.map((segment) => `${root}/${segment}`);
  return depth === 1
    ? below
    : below.flatMap((path, i) => [path, ...(i < 7 ? pathsBelow(path, segments, depth - 1) : [])]);
}
