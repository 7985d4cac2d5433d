import test from 'ava';
import type { JsonObject } from '../../../api/codec/decode.ts';
import { decode } from '../../../api/codec/decode.ts';
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { encodeWatchEvent, hasEnvelope, openEnvelope, sealEnvelope } from '../../../api/codec/envelope.ts';
import { decodeEnveloped, decodeProtobuf, encodeEnveloped, encodeProtobuf } from '../../../api/codec/protobuf.ts';
import { WireReader } from '../../../api/codec/wire.ts';
import { parseExact } from '../../../api/json/exact-json.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { strideOf } from '../../server/effort.ts';
import { sampleOf } from './sample.ts';

const schema = schemaOf(DIALECTS.orch);
const wireTypes = schema.typeNames.map((name) => schema.type(name)).filter((type) => !type.jsonOnly);

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s+/g, ''), 'hex');
const ascii = (text: string): string => Buffer.from(text).toString('hex');

interface Known {
  readonly type: string;
  readonly object: JsonObject;
  readonly bytes: string;
}

const known: readonly Known[] = [
  { type: 'meta/v1.ListMeta', object: { resourceVersion: '42', remainingItemCount: 0 }, bytes: `12 02 3432 20 00` },
  { type: 'core/v1.PodSpec', object: { priority: -1 }, bytes: 'c8 01 ff ff ff ff ff ff ff ff ff 01' },
  { type: 'core/v1.PodSpec', object: { terminationGracePeriodSeconds: 5_000_000_000 }, bytes: '20 80 e4 97 d0 12' },
  {
    type: 'core/v1.PodSpec',
    object: { hostNetwork: true, automountServiceAccountToken: false },
    bytes: '58 01 a8 01 00',
  },
  { type: 'core/v1.LoadBalancerIngress', object: { ip: '1.2.3.4' }, bytes: `0a 07 ${ascii('1.2.3.4')}` },
  {
    type: 'meta/v1.ObjectMeta',
    object: { name: 'a', creationTimestamp: null, labels: { b: '2', a: '1' } },
    bytes: '0a0161 5a06 0a0161 120131 5a06 0a0162 120132',
  },
  {
    type: 'meta/v1.ObjectMeta',
    object: { creationTimestamp: '2021-04-08T12:00:00Z' },
    bytes: '42 08 08 c0 e0 bb 83 06 10 00',
  },
  { type: 'meta/v1.ObjectMeta', object: { creationTimestamp: '1970-01-01T00:00:00Z' }, bytes: '42 04 08 00 10 00' },
  {
    type: 'coordination/v1.LeaseSpec',
    object: { renewTime: '1970-01-01T00:00:01.000002Z' },
    bytes: '22 05 08 01 10 d0 0f',
  },
  { type: 'core/v1.ServicePort', object: { port: 80, targetPort: 8080 }, bytes: '18 50 22 07 08 00 10 90 3f 1a 00' },
  {
    type: 'core/v1.ServicePort',
    object: { port: 80, targetPort: 'web' },
    bytes: '18 50 22 09 08 01 10 00 1a 03 776562',
  },
  {
    type: 'core/v1.ResourceRequirements',
    object: { limits: { cpu: '1' } },
    bytes: '0a 0a 0a 03 637075 12 03 0a 01 31',
  },
  {
    type: 'core/v1.Secret',
    object: { metadata: { creationTimestamp: null }, data: { k: '/w==' } },
    bytes: '0a 00 12 06 0a 01 6b 12 01 ff',
  },
  { type: 'meta/v1.ManagedFieldsEntry', object: { fieldsV1: { a: 1 } }, bytes: `3a 09 0a 07 ${ascii('{"a":1}')}` },
  {
    type: 'apps/v1.ControllerRevision',
    object: { metadata: { creationTimestamp: null }, data: [1], revision: 0 },
    bytes: `0a 00 12 05 0a 03 ${ascii('[1]')}`,
  },
  { type: 'core/v1.Volume', object: { name: 'v', emptyDir: {} }, bytes: '0a 01 76 12 02 12 00' },
  {
    type: 'authentication/v1.UserInfo',
    object: { extra: { k: ['a', ''] } },
    bytes: '22 0a 0a 01 6b 12 05 0a 01 61 0a 00',
  },
  {
    type: 'apiextensions/v1.JSONSchemaProps',
    object: { maximum: 1.5, exclusiveMaximum: true },
    bytes: '49 00 00 00 00 00 00 f8 3f 50 01',
  },
  { type: 'apiextensions/v1.JSONSchemaProps', object: { additionalProperties: false }, bytes: 'f2 01 00' },
  { type: 'apiextensions/v1.JSONSchemaProps', object: { additionalProperties: true }, bytes: 'f2 01 02 08 01' },
  {
    type: 'apiextensions/v1.JSONSchemaProps',
    object: { additionalProperties: { type: 'a' } },
    bytes: 'f2 01 07 08 01 12 03 2a 01 61',
  },
  { type: 'apiextensions/v1.JSONSchemaProps', object: { items: [{ type: 'a' }] }, bytes: 'c2 01 05 12 03 2a 01 61' },
  {
    type: 'apiextensions/v1.JSONSchemaProps',
    object: { dependencies: { k: ['p'] } },
    bytes: '82 02 08 0a 01 6b 12 03 12 01 70',
  },
  { type: 'meta/v1.Duration', object: { duration: 1_500_000_000 }, bytes: '08 80 de a0 cb 05' },
  {
    type: 'meta/v1.Status',
    object: { metadata: {}, status: 'Failure', reason: 'NotFound', details: { name: 'p' }, code: 404 },
    bytes: `0a 00 12 07 ${ascii('Failure')} 22 08 ${ascii('NotFound')} 2a 03 0a 01 70 30 94 03`,
  },
  {
    type: 'meta/v1.DeleteOptions',
    object: { gracePeriodSeconds: 0, propagationPolicy: 'Orphan' },
    bytes: `08 00 22 06 ${ascii('Orphan')}`,
  },
];

test('known objects have known bytes, both ways', (t) => {
  for (const { type: name, object, bytes } of known) {
    const type = schema.type(name);
    const expected = hex(bytes);
    t.is(encodeProtobuf(object, type).toString('hex'), expected.toString('hex'), `${name} ${JSON.stringify(object)}`);
    const canonical = decode(structuredClone(object), type).object;
    t.deepEqual(decodeProtobuf(expected, type).object, canonical, name);
  }
});

test('every type keeps every member through its bytes', (t) => {
  for (const type of wireTypes) {
    if (type.form !== 'message') continue;
    const object = decode(sampleOf(type), type).object;
    const bytes = encodeProtobuf(object, type);
    const { kind: _, apiVersion: __, ...members } = object;
    const expected = type.hasTypeMeta ? members : object;
    const decoded = decodeProtobuf(bytes, type).object;
    t.is(JSON.stringify(decoded), JSON.stringify(expected), type.name);
    t.true(encodeProtobuf(decoded, type).equals(bytes), type.name);
  }
});

test('the empty object of every type survives', (t) => {
  for (const type of wireTypes) {
    if (type.form !== 'message') continue;
    const { object } = decode({}, type);
    t.deepEqual(decodeProtobuf(encodeProtobuf(object, type), type).object, object, type.name);
    t.deepEqual(decodeProtobuf(Buffer.alloc(0), type).object, object, type.name);
  }
});

test('the order of members does not change the bytes', (t) => {
  const type = schema.type('core/v1.PodSpec');
  const forward = { nodeName: 'n', hostNetwork: true, containers: [], nodeSelector: { a: '1', b: '2' } };
  const backward = { nodeSelector: { b: '2', a: '1' }, containers: [], hostNetwork: true, nodeName: 'n' };
  t.deepEqual(encodeProtobuf(forward, type), encodeProtobuf(backward, type));
});

test('zeros that another encoder writes are read as absent', (t) => {
  const type = schema.type('core/v1.PodSpec');
  t.deepEqual(decodeProtobuf(hex('1a 00 52 00 58 00 60 00'), type).object, { containers: null });
});

test('of a number that is too long for its field the low bits count, and a raw value may hold nothing', (t) => {
  const spec = schema.type('core/v1.PodSpec');
  t.like(decodeProtobuf(hex('c8 01 85 80 80 80 10'), spec).object, { priority: 5 });
  const revision = schema.type('apps/v1.ControllerRevision');
  for (const data of ['', '12 00', '12 02 0a 00']) t.like(decodeProtobuf(hex(data), revision).object, { revision: 0 });
});

test('small messages that say nothing, or more than they can, are read as Go reads them', (t) => {
  t.like(decodeProtobuf(hex('42 00'), schema.type('meta/v1.ObjectMeta')).object, { creationTimestamp: null });
  const limits = (bytes: string) => decodeProtobuf(hex(bytes), schema.type('core/v1.ResourceRequirements')).object;
  t.deepEqual(limits('0a 07 0a 03 637075 12 00'), { limits: { cpu: '0' } });
  t.deepEqual(limits('0a 09 0a 03 637075 12 02 0a 00'), { limits: { cpu: '0' } });
  const target = (bytes: string) => decodeProtobuf(hex(bytes), schema.type('core/v1.ServicePort')).object;
  t.like(target('18 50 22 08 08 00 10 85 80 80 80 10'), { targetPort: 5 });
  const time = (bytes: string) => decodeProtobuf(hex(`22 ${bytes}`), schema.type('coordination/v1.LeaseSpec')).object;
  t.deepEqual(time('08 08 01 10 ff 93 eb dc 03'), { renewTime: '1970-01-01T00:00:01.999999Z' });
  for (const nanos of ['08 08 01 10 80 94 eb dc 03', '0d 08 01 10 ff ff ff ff ff ff ff ff ff 01'])
    t.throws(() => time(nanos), { instanceOf: DecodeError, message: /is not a moment/ });
});

test('an integer beyond 2^53 has the same digits in Protobuf as in JSON', (t) => {
  const type = schema.type('batch/v1.JobSpec');
  for (const digits of ['92233720368547700', '-92233720368547700', '9223372036854775000', '9007199254740994']) {
    const { object } = decode(parseExact(`{"activeDeadlineSeconds":${digits}}`) as JsonObject, type);
    t.is(
      new WireReader(
        encodeProtobuf({ activeDeadlineSeconds: object.activeDeadlineSeconds! }, type).subarray(1),
      ).int64(),
      BigInt(digits),
    );
    t.deepEqual(decodeProtobuf(encodeProtobuf(object, type), type).object, object, digits);
  }
});

test('numbers in packed form are read', (t) => {
  const type = schema.type('core/v1.PodSecurityContext');
  t.deepEqual(decodeProtobuf(hex('22 03 01 02 03'), type).object, { supplementalGroups: [1, 2, 3] });
  t.deepEqual(decodeProtobuf(hex('20 01 20 02'), type).object, { supplementalGroups: [1, 2] });
});

test('a message that comes in parts is all of them together, and of a value the last one counts', (t) => {
  const type = schema.type('core/v1.Pod');
  const container = (name: string): JsonObject => ({ name, image: 'i' });
  const parts: readonly JsonObject[] = [
    {
      metadata: { name: 'a', labels: { x: '1', y: '1' } },
      spec: { containers: [container('c')], nodeName: 'n', securityContext: { runAsUser: 1, fsGroup: 2 } },
    },
    {
      metadata: { labels: { y: '2' } },
      spec: { containers: [container('d')], securityContext: { runAsUser: 5 } },
    },
  ];
  const whole: JsonObject = {
    metadata: { name: 'a', labels: { x: '1', y: '2' } },
    spec: {
      containers: [container('c'), container('d')],
      nodeName: 'n',
      securityContext: { runAsUser: 5, fsGroup: 2 },
    },
  };
  const bytes = Buffer.concat(parts.map((part) => encodeProtobuf(decode(part, type).object, type)));
  t.deepEqual(decodeProtobuf(bytes, type).object, decode(whole, type).object);
});

test('fields that the type does not have are skipped', (t) => {
  const type = schema.type('meta/v1.ListMeta');
  const unknown = 'f8 ff 01 05  f9 ff 01 0000000000000000  fa ff 01 02 0000  fd ff 01 00000000';
  t.deepEqual(decodeProtobuf(hex(`${unknown} 12 01 37 ${unknown}`), type).object, { resourceVersion: '7' });
});

test('a map key named as an object’s own property is a key', (t) => {
  const type = schema.type('meta/v1.ObjectMeta');
  const object = decode(JSON.parse('{"labels":{"__proto__":"x","constructor":"y"}}'), type).object;
  const decoded = decodeProtobuf(encodeProtobuf(object, type), type).object;
  t.is(JSON.stringify(decoded), JSON.stringify(object));
  t.is(Object.getPrototypeOf(decoded.labels), Object.prototype);
});

test('a map entry without a value has an empty one', (t) => {
  const { object } = decodeProtobuf(hex('12 03 0a 01 61'), schema.type('core/v1.Secret'));
  t.deepEqual(object.data, { a: '' });
  t.deepEqual(
    decodeProtobuf(encodeProtobuf(object, schema.type('core/v1.Secret')), schema.type('core/v1.Secret')).object,
    object,
  );
});

test('an enveloped object keeps its kind and version', (t) => {
  const type = schema.type('core/v1.Namespace');
  const object = decode({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' } }, type).object;
  const bytes = encodeEnveloped(object, type);
  // The spec and status of a namespace are always in JSON, and so are empty messages here.
  const raw = '0a 03 0a 01 6e  12 00  1a 00';
  const expected = `6b 38 73 00 0a 0f 0a 02 ${ascii('v1')} 12 09 ${ascii('Namespace')} 12 09 ${raw} 1a 00 22 00`;
  t.is(bytes.toString('hex'), hex(expected).toString('hex'));
  t.deepEqual(decodeEnveloped(bytes, () => type).object, object);
  t.true(hasEnvelope(bytes));
  t.deepEqual(openEnvelope(bytes).raw, encodeProtobuf(object, type));
  t.deepEqual(sealEnvelope('v1', 'Namespace', encodeProtobuf(object, type)), bytes);
});

test('a raw value may hold an enveloped object', (t) => {
  const pod = schema.type('core/v1.Pod');
  const bytes = encodeEnveloped({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' } }, pod);
  const event = decodeProtobuf(encodeWatchEvent('ADDED', bytes), schema.type('meta/v1.WatchEvent')).object;
  t.is(event.type, 'ADDED');
  t.like(event.object as JsonObject, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' } });
  const text = encodeWatchEvent('ERROR', Buffer.from('{"kind":"Status"}'));
  t.deepEqual(decodeProtobuf(text, schema.type('meta/v1.WatchEvent')).object, {
    type: 'ERROR',
    object: { kind: 'Status' },
  });
});

test('a raw value that holds an object of a kind without a message is refused', (t) => {
  for (const [apiVersion, kind] of [
    [`${DIALECTS.orch.metaGroup}/v1`, 'Table'],
    ['v1', 'Unheard'],
  ] as const) {
    const event = encodeWatchEvent('ADDED', sealEnvelope(apiVersion, kind, Buffer.alloc(0)));
    t.throws(() => decodeProtobuf(event, schema.type('meta/v1.WatchEvent')), {
      instanceOf: DecodeError,
      message: `object: holds an object of the unknown kind ${kind}`,
    });
  }
});

test('groups of fields that nobody knows are passed over, however deep, and what is behind them is read', (t) => {
  const named = '0a 03 0a 01 61';
  const depth = 100_000;
  for (const group of [
    '7b 7c',
    '7b 08 01 12 01 7c 0d 00 00 00 00 09 00 00 00 00 00 00 00 00 7c',
    '7b 0b 13 08 01 14 0c 7c',
    `${'7b '.repeat(depth)}${'7c '.repeat(depth)}`,
  ]) {
    const { object } = decodeProtobuf(hex(`${group} ${named}`), schema.type('core/v1.Pod'));
    t.like(object.metadata, { name: 'a' }, group.slice(0, 40));
  }
});

test('broken bytes are refused with what is wrong', (t) => {
  const cases = [
    ['core/v1.Pod', '0a', 'metadata: cut off in the middle of a number'],
    ['core/v1.Pod', '0a 05 0a', 'metadata: a length goes beyond its message'],
    ['core/v1.Pod', '0a 02 0a 09', 'metadata.name: a length goes beyond its message'],
    ['core/v1.Pod', '08 01', 'metadata: has the wire type 0, not 2'],
    ['core/v1.Pod', '0b', 'metadata: has the wire type 3, not 2'],
    ['core/v1.Pod', '07', 'a field has the number 0'],
    ['core/v1.Pod', '7b', 'a group has no end'],
    ['core/v1.Pod', '7b 08 01', 'a group has no end'],
    ['core/v1.Pod', '7b 0a 05 7c', 'a length goes beyond its message'],
    ['core/v1.Pod', '7c', 'unknown wire type 4'],
    ['core/v1.Pod', '7b 0e 7c', 'unknown wire type 6'],
    ['core/v1.PodSpec', 'c8 01 ff ff ff ff ff ff ff ff ff ff 01', 'priority: a number is longer than ten bytes'],
    [
      'core/v1.ResourceRequirements',
      '0a 0a 0a 03 637075 12 03 0a 01 78',
      'limits[cpu]: cannot unmarshal "x" into a value of type Quantity',
    ],
    [
      'meta/v1.ObjectMeta',
      '42 07 08 ff ff ff ff ff 7f',
      'creationTimestamp: is not a moment between the years 1 and 9999',
    ],
    ['apps/v1.ControllerRevision', '12 03 0a 01 7b', 'data: holds neither JSON nor an enveloped object'],
    ['apiextensions/v1.JSONSchemaProps', '49 00 00 00 00 00 00 f0 7f', 'maximum: is not a finite number'],
  ] as const;
  for (const [name, bytes, message] of cases) {
    t.throws(() => decodeProtobuf(hex(bytes), schema.type(name)), { instanceOf: DecodeError, message }, bytes);
  }
});

const BYTE_EACH = strideOf(101);

test('bytes that were cut or changed anywhere are read some way or refused', (t) => {
  const type = schema.type('core/v1.Pod');
  const bytes = encodeProtobuf(decode(sampleOf(type), type).object, type);
  const attempt = (broken: Uint8Array) => {
    try {
      decodeProtobuf(broken, type);
    } catch (error) {
      t.true(error instanceof DecodeError, String(error));
    }
  };
  for (let i = 0; i < bytes.length; i += BYTE_EACH) {
    attempt(bytes.subarray(0, i));
    const changed = Buffer.from(bytes);
    changed[i] = changed[i]! ^ 0xff;
    attempt(changed);
  }
});

/** Levels that a reader which calls itself for each has no stack for. */
const NESTED = 5000;

test('messages nested beyond the bound are refused', (t) => {
  let bytes: Buffer = Buffer.alloc(0);
  for (let i = 0; i < NESTED; i++) {
    const length: number[] = [];
    for (let rest = bytes.length; ; rest >>>= 7) {
      length.push(rest >= 0x80 ? (rest & 0x7f) | 0x80 : rest);
      if (rest < 0x80) break;
    }
    bytes = Buffer.concat([Buffer.from([0xe2, 0x01, ...length]), bytes]);
  }
  t.throws(() => decodeProtobuf(bytes, schema.type('apiextensions/v1.JSONSchemaProps')), {
    instanceOf: DecodeError,
    message: /nested deeper than 512 levels$/,
  });
});

test('a body that is no envelope is refused, and what one says of the encoding of its object is passed over', (t) => {
  const type = schema.type('core/v1.Pod');
  const open = (bytes: Buffer) => () => decodeEnveloped(bytes, () => type);
  t.throws(open(Buffer.from('{"kind":"Pod"}')), { instanceOf: DecodeError, message: /prefix/ });
  t.throws(open(Buffer.alloc(0)), { instanceOf: DecodeError });
  t.throws(open(hex('6b 38 73 00 0a 05')), { instanceOf: DecodeError });
  t.throws(open(hex('6b 38 73 00')), { message: /nothing behind the prefix/ });
  const raw = '12 05 0a 03 0a 01 6e';
  for (const said of ['22 00', `22 10 ${ascii('application/json')}`, `1a 04 ${ascii('gzip')}`])
    t.deepEqual(
      open(hex(`6b 38 73 00 ${raw} ${said}`))().object.metadata,
      { name: 'n', creationTimestamp: null },
      said,
    );
  t.throws(open(hex(`6b 38 73 00 12 02 ${ascii('{}')} 22 10 ${ascii('application/json')}`)), {
    instanceOf: DecodeError,
  });
});

test('an object that cannot be written leaves nothing behind in the next one', (t) => {
  const type = schema.type('meta/v1.ObjectMeta');
  const expected = encodeProtobuf({ name: 'a' }, type);
  const broken = { name: 'b', labels: { a: 'b' }, creationTimestamp: 'never' };
  t.throws(() => encodeProtobuf(broken, type), { instanceOf: RangeError });
  t.deepEqual(encodeProtobuf({ name: 'a' }, type), expected);
});

test('a table has no Protobuf form', (t) => {
  t.throws(() => encodeProtobuf({}, schema.type('meta/v1.Table')), { instanceOf: RangeError });
  t.throws(() => decodeProtobuf(Buffer.alloc(0), schema.type('meta/v1.Table')), { instanceOf: RangeError });
});

test('an object larger than the writer’s buffer is written whole, and the next one too', (t) => {
  const type = schema.type('core/v1.ConfigMap');
  const object = decode({ data: { big: 'ü'.repeat(2_000_000), small: 'x' } }, type).object;
  t.deepEqual(decodeProtobuf(encodeProtobuf(object, type), type).object, object);
  const small = decode({ data: { a: 'b' } }, type).object;
  t.deepEqual(decodeProtobuf(encodeProtobuf(small, type), type).object, small);
});
