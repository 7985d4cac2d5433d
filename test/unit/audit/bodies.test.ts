// Bodies of requests and answers as audit events hold them.
import test from 'ava';
import { readEvent } from '../../../actors/audit/bodies.ts';
import type { UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import { SentObjects } from '../../../actors/audit/sent-objects.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const SCHEMA = schemaOf(DIALECTS.orch);
const SENT = new SentObjects(SCHEMA, () => false);

function answered(value: unknown): unknown {
  const responseBody = { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
  const request = { level: 'RequestResponse', objectRef: undefined };
  return readEvent({ request, responseBody } as unknown as UnreadAuditEvent, SCHEMA, SENT).responseObject;
}

test('answers are recorded that are objects of the API, and no others', (t) => {
  const status = { kind: 'Status', apiVersion: 'v1', code: 404 };
  t.deepEqual(answered(status), status);
  for (const other of [{ paths: ['/api'] }, { swagger: '2.0' }, { kind: 7 }, ['/api'], 'text', null])
    t.is(answered(other), undefined);
});

test('what was sent is recorded from the level Request on, what was answered at the level RequestResponse alone', (t) => {
  const body = { contentType: 'application/json', bytes: Buffer.from('{"kind":"ConfigMap","apiVersion":"v1"}') };
  const recorded = (level: string): readonly boolean[] => {
    const request = { level, objectRef: undefined };
    const unread = { request, requestBody: body, responseBody: body } as unknown as UnreadAuditEvent;
    const { requestObject, responseObject } = readEvent(unread, SCHEMA, SENT);
    return [requestObject !== undefined, responseObject !== undefined];
  };
  t.deepEqual(['Metadata', 'Request', 'RequestResponse'].map(recorded), [
    [false, false],
    [true, false],
    [true, true],
  ]);
});

/** What is recorded of a body that was sent with a verb to a resource of a group and version. */
function sent(verb: string, place: string, value: unknown, contentType = 'application/json'): unknown {
  const [apiGroup, apiVersion, resource, subresource = ''] = place.split('/');
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const request = { level: 'Request', verb, objectRef: { apiGroup, apiVersion, resource, subresource } };
  const unread = { request, requestBody: { contentType, bytes } } as unknown as UnreadAuditEvent;
  return readEvent(unread, SCHEMA, SENT).requestObject;
}

test('an object to be made or changed is recorded with its kind, the defaults of its type and no fields that nobody knows', (t) => {
  t.deepEqual(sent('create', '/v1/configmaps', { metadata: { name: 'a' }, nobody: 1 }), {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { creationTimestamp: null, name: 'a' },
  });
  const pod = { spec: { containers: [{ name: 'c', image: 'i' }] } };
  t.like(sent('update', '/v1/pods', pod), {
    kind: 'Pod',
    spec: { restartPolicy: 'Always', containers: [{ imagePullPolicy: 'Always' }] },
  });
  t.like(sent('create', '/v1/pods/binding', { target: { name: 'n' } }), { kind: 'Binding', apiVersion: 'v1' });
  const secret = sent('create', '/v1/secrets', { stringData: { k: 'v' } });
  t.like(secret, { kind: 'Secret', apiVersion: 'v1', type: 'Opaque', data: { k: 'dg==' }, stringData: undefined });
});

test('what cannot be read as the kind that the request is about is not recorded', (t) => {
  for (const body of [{ kind: 'Pod', apiVersion: 'v1' }, { apiVersion: 'v2' }, { data: { a: 7 } }, 'no JSON'])
    t.is(sent('create', '/v1/configmaps', body), undefined);
});

test('a patch and an object of a custom type are recorded as they were sent, options of a deletion with their kind', (t) => {
  const patch = { spec: { replicas: 2 }, nobody: 1 };
  t.deepEqual(sent('patch', 'apps/v1/deployments', patch, 'application/merge-patch+json'), patch);
  t.deepEqual(sent('create', 'example.net/v1/widgets', patch), patch);
  const options = { gracePeriodSeconds: 0 };
  t.deepEqual(sent('delete', '/v1/pods', options), { kind: 'DeleteOptions', apiVersion: 'v1', ...options });
});

test('an object that is made or replaced is named by its body, one that is patched by its path alone', (t) => {
  const bytes = Buffer.from('{"metadata":{"name":"b","uid":"u","resourceVersion":"7"}}');
  const named = (verb: string, contentType: string): unknown => {
    const objectRef = { apiGroup: '', apiVersion: 'v1', resource: 'configmaps', subresource: '', ...NAMELESS };
    const request = { level: 'Request', verb, objectRef };
    const unread = { request, requestBody: { contentType, bytes } } as unknown as UnreadAuditEvent;
    return readEvent(unread, SCHEMA, SENT).request.objectRef;
  };
  t.like(named('create', 'application/json'), { name: 'b', uid: 'u', resourceVersion: '7' });
  t.like(named('update', 'application/json'), { name: 'b', uid: 'u', resourceVersion: '7' });
  t.like(named('patch', 'application/merge-patch+json'), NAMELESS);
});

const NAMELESS = { name: '', namespace: '', uid: '', resourceVersion: '' };

test('what the path says of an object holds, whatever its body says', (t) => {
  const body = { metadata: { name: 'other', namespace: 'other', uid: 'u' } };
  const bytes = Buffer.from(JSON.stringify(body));
  const named = (objectRef: object, text = bytes): unknown => {
    const request = { level: 'Metadata', verb: 'create', objectRef: { resource: 'configmaps', ...objectRef } };
    const requestBody = { contentType: 'application/json', bytes: text };
    return readEvent({ request, requestBody } as unknown as UnreadAuditEvent, SCHEMA, SENT).request.objectRef;
  };
  t.deepEqual(named({ ...NAMELESS, name: 'a', namespace: 'b' }), {
    resource: 'configmaps',
    name: 'a',
    namespace: 'b',
    uid: 'u',
    resourceVersion: '',
  });
  t.like(named(NAMELESS), { resource: 'configmaps', name: 'other', namespace: 'other', uid: 'u' });
  for (const unnamed of ['[]', '7', '{}', '{"metadata":[]}', '{"metadata":{"name":7}}', 'no JSON'])
    t.like(named(NAMELESS, Buffer.from(unnamed)), { resource: 'configmaps', ...NAMELESS });
});

test('a body is recorded that was sent as YAML or Protobuf, and none of another form', (t) => {
  t.like(sent('create', '/v1/configmaps', 'data: {a: b}', 'application/yaml'), { kind: 'ConfigMap', data: { a: 'b' } });
  t.is(sent('create', '/v1/configmaps', '{"data":{}}', 'application/octet-stream'), undefined);
  t.like(sent('create', '/v1/configmaps', '{"data":{}}', ''), { kind: 'ConfigMap' });
  t.is(sent('create', '/v1/configmaps', 'no envelope', PROTOBUF_TYPE), undefined);
  t.is(sent('create', '/v1/configmaps', ''), undefined);
});

const PROTOBUF_TYPE = DIALECTS.orch.protobufMediaType;

test('text that is to be stored is recorded as data of a Secret alone', (t) => {
  const text = { data: {}, stringData: { k: 'v' } };
  t.deepEqual(sent('create', 'example.net/v1/secrets', text), text);
  t.like(sent('create', '/v1/configmaps', { data: { k: 'v' } }), { data: { k: 'v' } });
});
