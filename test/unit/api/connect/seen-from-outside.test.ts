import test from 'ava';
import { headersOutside, type ProxyPlace, proxyPlace } from '../../../../api/connect/seen-from-outside.ts';

function locationOutside(location: string, place: ProxyPlace): string | undefined {
  return headersOutside([['Location', location]], place)[0]?.[1];
}

const POD = { version: 'v1', namespace: 'ns', resource: 'pods', name: 'p:8080', subresource: 'proxy' };
const PLACE = proxyPlace(POD, { scheme: 'http', host: '10.1.2.3', port: 8080 }, 'api.example:6443');
const PREFIX = '/api/v1/namespaces/ns/pods/p:8080/proxy';

const REFERENCES: readonly (readonly [reference: string, outside: string])[] = [
  ['/login', `${PREFIX}/login`],
  ['/', `${PREFIX}/`],
  ['/a%20b/?next=/x#top', `${PREFIX}/a%20b/?next=/x#top`],
  ['http://10.1.2.3:8080/login', `${PREFIX}/login`],
  ['//10.1.2.3:8080/login', `${PREFIX}/login`],
  ['https://API.example:6443/login', `https://API.example:6443${PREFIX}/login`],
  [`${PREFIX}/login`, `${PREFIX}/login`],
  [`https://api.example:6443${PREFIX}/x`, `https://api.example:6443${PREFIX}/x`],
  [`${PREFIX}er/login`, `${PREFIX}${PREFIX}er/login`],
  // Counts from the page that it is on, which is below the prefix.
  ['login', 'login'],
  ['../x', '../x'],
  ['?a=b', '?a=b'],
  ['', ''],
  // Elsewhere.
  ['http://10.1.2.3/login', 'http://10.1.2.3/login'],
  ['https://idp.example/authorize?x=/y', 'https://idp.example/authorize?x=/y'],
  ['mailto:a@b.example', 'mailto:a@b.example'],
  ['urn:/x', 'urn:/x'],
];

for (const [reference, outside] of REFERENCES) {
  test(`a redirection behind a proxy to ${JSON.stringify(reference)} leads to ${JSON.stringify(outside)}`, (t) => {
    t.is(locationOutside(reference, PLACE), outside);
  });
}

test("a backend's default port may be left out, a node has no namespace, and other headers stay as they are", (t) => {
  const node = { version: 'v1', namespace: '', resource: 'nodes', name: 'n', subresource: 'proxy' };
  const place = proxyPlace(node, { scheme: 'https', host: 'FD00::1', port: 443 }, 'x');
  for (const host of ['[fd00::1]', '[fd00::1]:443'])
    t.is(locationOutside(`https://${host}/logs/`, place), '/api/v1/nodes/n/proxy/logs/', host);
  t.deepEqual(
    headersOutside(
      [
        ['LOCATION', '/x'],
        ['Link', '/x'],
      ],
      place,
    ),
    [
      ['LOCATION', '/api/v1/nodes/n/proxy/x'],
      ['Link', '/x'],
    ],
  );
});
