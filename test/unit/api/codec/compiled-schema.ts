// Compiles everything that is compiled from the schema, for every type, and prints what of the heap that takes, in bytes.
// A process of its own, started with --expose-gc, so that nothing else is counted.

import { decode } from '../../../../api/codec/decode.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../../api/codec/protobuf.ts';
import { schemaOf, type TypeSchema } from '../../../../api/schema/schema.ts';
import { objectValidation } from '../../../../api/validation/object-validation.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { sampleOf } from '../sample.ts';

function heapBytes(): number {
  gc?.();
  gc?.();
  return process.memoryUsage().heapUsed;
}

const before = heapBytes();
const schema = schemaOf(DIALECTS.orch);
const validation = objectValidation(schema, { allowPrivileged: false, gate: () => false });
const types = schema.typeNames.map((name) => schema.type(name)).filter(({ form }) => form === 'message');

/** One of each: a reader, a writer, defaults, rules. */
function compile(type: TypeSchema): void {
  const { object } = decode(sampleOf(type), type);
  applyDefaults(object, type);
  if (!type.jsonOnly) decodeProtobuf(encodeProtobuf(decode(object, type).object, type), type);
  if (type.hasTypeMeta) validation.create(object, type);
}

for (const type of types) compile(type);
process.stdout.write(JSON.stringify({ types: types.length, heapBytes: heapBytes() - before }));
