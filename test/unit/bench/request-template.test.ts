// Goal: a prepared request is a whole HTTP request at all times, whatever is written into its holes. Method: change the
// holes and read the bytes back.
import test from 'ava';
import type { Endpoint, RequestTemplate } from '../../../bench/load-protocol.ts';
import { PreparedRequest } from '../../../bench/request-template.ts';

const endpoint: Endpoint = { host: '127.0.0.1', port: 8443, authorization: 'Bearer t0ken' };

function split(request: PreparedRequest): { lines: string[]; body: string } {
  const [head, body] = request.bytes.toString().split('\r\n\r\n') as [string, string];
  return { lines: head.split('\r\n'), body };
}

const put: RequestTemplate = {
  method: 'PUT',
  path: '/things/a-{object}',
  body: '{"metadata":{"name":"a-{object}","resourceVersion":{version}},"data":{"seq":"{seq}","text":"é"}}',
};

test('the head names the host, the user and the length of the body in bytes', (t) => {
  const { lines, body } = split(PreparedRequest.compile(put, endpoint));
  t.is(lines[0], 'PUT /things/a-00000000 HTTP/1.1');
  t.true(lines.includes('Host: 127.0.0.1:8443'));
  t.true(lines.includes('Authorization: Bearer t0ken'));
  t.true(lines.includes('Content-Type: application/json'));
  t.true(lines.includes(`Content-Length: ${Buffer.byteLength(body)}`));
});

test('a request without a body has neither a type nor a length', (t) => {
  const request = PreparedRequest.compile({ method: 'GET', path: '/things' }, { host: 'localhost', port: 80 });
  const { lines, body } = split(request);
  t.is(body, '');
  t.deepEqual(lines, ['GET /things HTTP/1.1', 'Host: localhost:80', 'User-Agent: bench', 'Accept: application/json']);
});

test('every hole of a kind takes the same number, in path and body', (t) => {
  const request = PreparedRequest.compile(put, endpoint);
  request.setSequence(1234567);
  request.setObject(89);
  request.setVersion('42');
  const { lines, body } = split(request);
  t.is(lines[0], 'PUT /things/a-00000089 HTTP/1.1');
  t.deepEqual(JSON.parse(body), {
    metadata: { name: 'a-00000089', resourceVersion: '42' },
    data: { seq: '01234567', text: 'é' },
  });
});

const versions = ['', '1', '12345678901234567890', '7'];

test('a version of any length leaves nothing of the one before', (t) => {
  const request = PreparedRequest.compile(put, endpoint);
  const { length } = request.bytes;
  for (const version of versions) {
    request.setVersion(version);
    const parsed = JSON.parse(split(request).body) as { metadata: { resourceVersion: string } };
    t.is(parsed.metadata.resourceVersion, version);
    t.is(request.bytes.length, length);
  }
});

test('two prepared requests share no bytes', (t) => {
  const first = PreparedRequest.compile(put, endpoint);
  const second = PreparedRequest.compile(put, endpoint);
  first.setSequence(1);
  second.setSequence(2);
  t.true(split(first).body.includes('00000001'));
  t.true(split(second).body.includes('00000002'));
});
