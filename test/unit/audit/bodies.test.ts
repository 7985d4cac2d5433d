// Bodies of requests and answers as audit events hold them.
import test from 'ava';
import { readEvent } from '../../../actors/audit/bodies.ts';
import type { UnreadAuditEvent } from '../../../actors/audit/protocol.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const SCHEMA = schemaOf(DIALECTS.orch);

function answered(value: unknown): unknown {
  const responseBody = { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
  const request = { level: 'RequestResponse', objectRef: undefined };
  return readEvent({ request, responseBody } as unknown as UnreadAuditEvent, SCHEMA).responseObject;
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
    const { requestObject, responseObject } = readEvent(unread, SCHEMA);
    return [requestObject !== undefined, responseObject !== undefined];
  };
  t.deepEqual(['Metadata', 'Request', 'RequestResponse'].map(recorded), [
    [false, false],
    [true, false],
    [true, true],
  ]);
});
