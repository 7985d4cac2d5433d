import test from 'ava';
import { isEagerClient } from '../../../../transport/uws/eager-clients.ts';

const EAGER = [
  'curl/7.88.1',
  'Go-http-client/1.1',
  'Go-http-client/2.0',
  'kubectl/v1.20.2 (linux/amd64) kubernetes/faecb19',
  'kube-controller-manager/v1.21.0 (linux/arm64) kubernetes/cb303e6/shared-informers',
  'manager/v0.0.0 (darwin/amd64) kubernetes/$Format',
  'node',
  'node-fetch',
  'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
  'undici',
  'okhttp/4.9.3',
  'Java-http-client/17.0.9',
  'Kubernetes Java Client/18.0.0-SNAPSHOT',
  'OpenAPI-Generator/1.0-SNAPSHOT/java',
  'Swagger-Codegen/1.0-SNAPSHOT/java',
  'fabric8-kubernetes-client/6.9.2',
  'axios/1.7.2',
  'got (https://github.com/sindresorhus/got)',
  'kubernetes-fluent-client',
  'python-httpx/0.23.3',
  'Python/3.11 aiohttp/3.8.4',
  'kopf/1.37.2',
  'kr8s/0.20.0',
  'FxVersion/4.700.22 OSName/Linux OSVersion/5.10 k8s.Kubernetes/2.0.0.0',
  '',
];

const WAITING = [
  'python-urllib3/1.26.12',
  'python-requests/2.28.1',
  'OpenAPI-Generator/18.20.0/python',
  'Swagger-Codegen/12.0.0/python',
  'my-curl/1',
  'kubernetes',
  'libcurl',
  'noded',
];

for (const agent of EAGER) test(`${agent} uses what a chunk holds at once`, (t) => t.true(isEagerClient(agent, '')));

for (const agent of WAITING) {
  test(`"${agent}" is not known to use what a chunk holds at once`, (t) => t.false(isEagerClient(agent, 'identity')));
}

test('of Python’s two generated clients the one that takes encoded answers uses what a chunk holds at once', (t) => {
  t.true(isEagerClient('OpenAPI-Generator/24.2.2/python', 'gzip, deflate'));
  t.false(isEagerClient('OpenAPI-Generator/24.2.2/python', ''));
});
