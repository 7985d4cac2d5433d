import test from 'ava';
import { bookmarkObject, expiredStatus, frameBytes, frameEvents } from '../../../actors/hub/frames/frames.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { watchEventFrame } from '../../../rendering/watch-event.ts';
import { Records } from './records.ts';

test('each event is one line of JSON with the object as it is stored', (t) => {
  const records = new Records();
  const text = 'é "quoted"\n\u2028 😀';
  const events = [
    { type: 'ADDED', entry: records.write({ namespace: 'a', name: 'x', text }, 7), shownRevision: undefined },
    { type: 'MODIFIED', entry: records.write({ namespace: 'é', name: 'ü' }, 8), shownRevision: undefined },
    { type: 'DELETED', entry: records.write({ namespace: '', name: 'z' }, 9), shownRevision: undefined },
  ] as const;
  const chunk = frameEvents(events, records.slabs);
  const lines = chunk.toString('utf8').split('\n');
  t.is(lines.pop(), '');
  t.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      {
        type: 'ADDED',
        object: {
          kind: 'Sample',
          apiVersion: 'v1',
          metadata: { name: 'x', namespace: 'a', resourceVersion: '7' },
          data: { text },
        },
      },
      {
        type: 'MODIFIED',
        object: {
          kind: 'Sample',
          apiVersion: 'v1',
          metadata: { name: 'ü', namespace: 'é', resourceVersion: '8' },
          data: { text: '' },
        },
      },
      {
        type: 'DELETED',
        object: {
          kind: 'Sample',
          apiVersion: 'v1',
          metadata: { name: 'z', resourceVersion: '9' },
          data: { text: '' },
        },
      },
    ],
  );
  const bytes = events.map(({ type, entry }) => frameBytes(type, entry, records.slabs));
  t.is(
    chunk.length,
    bytes.reduce((sum, each) => sum + each, 0),
  );
});

for (const shownRevision of [1, 10, 123456789, Number.MAX_SAFE_INTEGER]) {
  test(`an object that left a selection shows the revision at which it left, ${shownRevision}, and the record keeps its own`, (t) => {
    const records = new Records();
    const entry = records.write({ namespace: 'ä', name: 'x' }, 1234567);
    const shown = JSON.parse(frameEvents([{ type: 'DELETED', entry, shownRevision }], records.slabs).toString());
    t.is(shown.object.metadata.resourceVersion, String(shownRevision));
    const own = JSON.parse(frameEvents([{ type: 'ADDED', entry, shownRevision: undefined }], records.slabs).toString());
    t.is(own.object.metadata.resourceVersion, '1234567');
  });
}

test('a chunk is a copy: what happens to the slab later does not show in it', (t) => {
  const records = new Records();
  const entry = records.write({ namespace: 'a', name: 'x' }, 1);
  const chunk = frameEvents([{ type: 'ADDED', entry, shownRevision: undefined }], records.slabs);
  const before = chunk.toString();
  records.slab.bytes.fill(0xff);
  t.is(chunk.toString(), before);
});

test('no events make no bytes', (t) => {
  t.is(frameEvents([], new Records().slabs).length, 0);
});

const frame = (type: string, object: object): string =>
  watchEventFrame(type, object, 'json', () => schemaOf(DIALECTS.orch)).toString();

test('a bookmark has the revision, and the annotation only where initial events end', (t) => {
  const bookmark = frame('BOOKMARK', bookmarkObject('v1', 'Sample', 42, undefined));
  t.true(bookmark.endsWith('}\n'));
  t.deepEqual(JSON.parse(bookmark), {
    type: 'BOOKMARK',
    object: { kind: 'Sample', apiVersion: 'v1', metadata: { resourceVersion: '42', creationTimestamp: null } },
  });
  t.deepEqual(JSON.parse(frame('BOOKMARK', bookmarkObject('v1', 'Sample', 42, 'initial-events-end'))).object.metadata, {
    resourceVersion: '42',
    creationTimestamp: null,
    annotations: { 'initial-events-end': 'true' },
  });
});

test('an expired watch ends with an ERROR event that holds a Status of 410', (t) => {
  const { type, object } = JSON.parse(frame('ERROR', expiredStatus('too old resource version: 3 (7)')));
  t.is(type, 'ERROR');
  t.deepEqual(
    [object.kind, object.apiVersion, object.status, object.reason, object.code, object.message],
    ['Status', 'v1', 'Failure', 'Expired', 410, 'too old resource version: 3 (7)'],
  );
});
