// Goal: the objects of a load have exactly the size asked for once their tokens are filled in, and are valid JSON. Method:
// compile each into a request and read its body.
import test from 'ava';
import * as objects from '../../../bench/objects.ts';
import { PreparedRequest } from '../../../bench/request-template.ts';

function bodyOf(text: string): string {
  const request = PreparedRequest.compile({ method: 'POST', path: '/', body: text }, { host: 'localhost', port: 1 });
  return request.bytes.toString().split('\r\n\r\n')[1]!;
}

const sized: readonly (readonly [name: string, build: (bytes: number) => string])[] = [
  ['config map', (bytes) => objects.configMap('a-{seq}', bytes)],
  ['config map update', (bytes) => objects.configMapUpdate('a-{object}', bytes)],
  ['pod', (bytes) => objects.pod('a-{seq}', bytes, { scheduled: true })],
  ['pod for no scheduler', (bytes) => objects.pod('a-{seq}', bytes, { scheduled: false })],
];

for (const [name, build] of sized) {
  for (const bytes of [1000, 1200, 3200]) {
    test(`a ${name} of ${bytes} bytes has ${bytes} bytes and says its number`, (t) => {
      const body = bodyOf(build(bytes));
      t.is(Buffer.byteLength(body), bytes);
      t.notThrows(() => JSON.parse(body));
      t.is(body.split('"seq":"').length, 2);
    });
  }
}

test('an object smaller than its fixed parts is left as it is', (t) => {
  t.notThrows(() => JSON.parse(bodyOf(objects.configMap('a', 1))));
});

test('filler of a length is always the same text of that length', (t) => {
  for (const length of [0, 1, 7, 5000]) {
    t.is(objects.fillerText(length).length, length);
    t.is(objects.fillerText(length), objects.fillerText(length));
  }
});

test('only a pod that is to be scheduled leaves the scheduler unnamed', (t) => {
  const spec = (scheduled: boolean): { schedulerName?: string } =>
    (JSON.parse(objects.pod('a', 1000, { scheduled })) as { spec: { schedulerName?: string } }).spec;
  t.is(spec(true).schedulerName, undefined);
  t.is(typeof spec(false).schedulerName, 'string');
});
