// Stored records as messages of another version than the one they are stored in.
import test from 'ava';
import { decodeEnveloped } from '../../../../api/codec/protobuf.ts';
import { encodeStored } from '../../../../api/codec/stored-object.ts';
import { splitApiVersion } from '../../../../api/resources/resource-table.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { ProtobufRecords } from '../../../../rendering/protobuf-records.ts';
import type { Rendering } from '../../../../rendering/rendering.ts';
import {
  CREATED,
  mapSlab,
  recordBytes,
  stampRevision,
  writeRecordHead,
} from '../../../../storage/records/slab-record.ts';
import { renderingOf } from '../../rendering/representations.ts';

const DIALECT = DIALECTS.kubernetes;
const GROUP = 'networking.k8s.io';
const INGRESS = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
};

function slabWith(object: typeof INGRESS) {
  const slab = mapSlab(new SharedArrayBuffer(4096));
  const { text, revisionOffset, itemOffset } = encodeStored(object, `${GROUP}/v1`, 'Ingress');
  const key = `${GROUP}/ingresses/default/web`;
  const head = { revision: 7, bornRevision: 7, type: CREATED, schemaGeneration: 1, revisionOffset, itemOffset };
  const length = recordBytes(key.length, 0, text.length);
  const at = writeRecordHead(slab, 0, length, head, key, key.length, '', 0, text.length);
  slab.bytes.write(text, at);
  stampRevision(slab.bytes, at + revisionOffset, 7);
  return slab;
}

test('one record is a message of each version that is asked for, and none of them is taken for another', (t) => {
  const slab = slabWith(INGRESS);
  const records = new ProtobufRecords(DIALECT);
  const source = { group: GROUP, version: 'v1', kind: 'Ingress', dialect: DIALECT.name } as const;
  const rendering = (group: string, version: string): Rendering =>
    renderingOf({ group, version, kind: 'Ingress' }, { encoding: 'protobuf', ...(version === 'v1' ? {} : { source }) });
  const renderings = [rendering(GROUP, 'v1'), rendering(GROUP, 'v1beta1'), rendering('extensions', 'v1beta1')];
  // Twice: the second time they are kept.
  for (const each of [...renderings, ...renderings]) {
    const messages = records.of(each);
    const { group, version } = each.target;
    const message = messages.bytes(slab, 0);
    const whole = Buffer.alloc(messages.envelope.bytesAround(message.length));
    const at = messages.envelope.open(whole, 0, message.length);
    messages.envelope.close(whole, at + message.copy(whole, at));
    const { object } = decodeEnveloped(whole, (apiVersion, kind) => {
      const named = splitApiVersion(apiVersion);
      return schemaOf(DIALECT).kind(named.group, named.version, kind)!;
    });
    t.is(object.apiVersion, `${group}/${version}`);
    const older = { backend: { serviceName: 'web', servicePort: 80 } };
    t.deepEqual(object.spec, version === 'v1' ? INGRESS.spec : older);
  }
});
