// The OpenAPI document in Protobuf, as the message openapi.v2.Document: the form in which kubectl fetches it. A table
// gives each JSON member its field; the member names and numbers are those of the published message definitions.
import { BackwardWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../codec/wire.ts';
import type { SwaggerDocument } from './swagger.ts';

/**
 * What an answer in this form is labelled as. The name that older clients ask by is no valid media type, and newer
 * ones refuse an answer labelled with it.
 */
export const OPENAPI_PROTOBUF_CONTENT_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** The names that clients ask for this form by. */
export const OPENAPI_PROTOBUF_MEDIA_TYPES: readonly string[] = [
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  OPENAPI_PROTOBUF_CONTENT_TYPE,
];

/** Encodes the document. Members that the table does not name are left out. */
export function encodeDocument(document: SwaggerDocument): Buffer {
  const writer = new BackwardWriter();
  messageWriter('Document')(document, writer);
  return writer.take();
}

type ValueWriter = (value: unknown, writer: BackwardWriter) => void;

/** A member: its field number and what it holds. `…[]` is a list, `{…}` an object whose members are name-value pairs. */
type Member = readonly [number: number, holds: string];

interface MessageTable {
  readonly members: Readonly<Record<string, Member>>;
  /** The field that collects members named `x-…`. */
  readonly extensions?: number;
  /** The field that collects members not named above, as pairs of name and value of the type. */
  readonly pairs?: Member;
}

const SHARED_SCHEMA_MEMBERS: Readonly<Record<string, Member>> = {
  description: [4, 'text'],
  format: [2, 'text'],
  title: [3, 'text'],
  default: [5, 'any'],
};

const MESSAGES: Readonly<Record<string, MessageTable>> = {
  Document: {
    members: {
      swagger: [1, 'text'],
      info: [2, 'Info'],
      paths: [8, 'Paths'],
      definitions: [9, 'Definitions'],
      security: [12, 'SecurityRequirement[]'],
      securityDefinitions: [13, 'SecurityDefinitions'],
    },
    extensions: 16,
  },
  Info: { members: { title: [1, 'text'], version: [2, 'text'] }, extensions: 7 },
  Paths: { members: {}, extensions: 1, pairs: [2, 'PathItem'] },
  PathItem: {
    members: {
      get: [2, 'Operation'],
      put: [3, 'Operation'],
      post: [4, 'Operation'],
      delete: [5, 'Operation'],
      options: [6, 'Operation'],
      head: [7, 'Operation'],
      patch: [8, 'Operation'],
      parameters: [9, 'Parameter[]'],
    },
    extensions: 10,
  },
  Operation: {
    members: {
      tags: [1, 'text[]'],
      summary: [2, 'text'],
      description: [3, 'text'],
      operationId: [5, 'text'],
      produces: [6, 'text[]'],
      consumes: [7, 'text[]'],
      parameters: [8, 'Parameter[]'],
      responses: [9, 'Responses'],
      schemes: [10, 'text[]'],
      deprecated: [11, 'flag'],
    },
    extensions: 13,
  },
  BodyParameter: {
    members: {
      description: [1, 'text'],
      name: [2, 'text'],
      in: [3, 'text'],
      required: [4, 'flag'],
      schema: [5, 'Schema'],
    },
    extensions: 6,
  },
  QueryParameter: {
    members: {
      required: [1, 'flag'],
      in: [2, 'text'],
      description: [3, 'text'],
      name: [4, 'text'],
      type: [6, 'text'],
      format: [7, 'text'],
      uniqueItems: [20, 'flag'],
    },
    extensions: 23,
  },
  PathParameter: {
    members: {
      required: [1, 'flag'],
      in: [2, 'text'],
      description: [3, 'text'],
      name: [4, 'text'],
      type: [5, 'text'],
      format: [6, 'text'],
      uniqueItems: [19, 'flag'],
    },
    extensions: 22,
  },
  Responses: { members: {}, extensions: 2, pairs: [1, 'ResponseValue'] },
  Response: { members: { description: [1, 'text'], schema: [2, 'SchemaItem'] }, extensions: 5 },
  Definitions: { members: {}, pairs: [1, 'Schema'] },
  Properties: { members: {}, pairs: [1, 'Schema'] },
  SecurityDefinitions: { members: {}, pairs: [1, 'SecurityDefinition'] },
  ApiKeySecurity: {
    members: { type: [1, 'text'], name: [2, 'text'], in: [3, 'text'], description: [4, 'text'] },
    extensions: 5,
  },
  SecurityRequirement: { members: {}, pairs: [1, 'TextList'] },
  Schema: {
    members: {
      ...SHARED_SCHEMA_MEMBERS,
      $ref: [1, 'text'],
      multipleOf: [6, 'number'],
      maximum: [7, 'number'],
      exclusiveMaximum: [8, 'flag'],
      minimum: [9, 'number'],
      exclusiveMinimum: [10, 'flag'],
      maxLength: [11, 'integer'],
      minLength: [12, 'integer'],
      pattern: [13, 'text'],
      maxItems: [14, 'integer'],
      minItems: [15, 'integer'],
      uniqueItems: [16, 'flag'],
      maxProperties: [17, 'integer'],
      minProperties: [18, 'integer'],
      required: [19, 'text[]'],
      enum: [20, 'any[]'],
      additionalProperties: [21, 'AdditionalProperties'],
      type: [22, 'TextList'],
      items: [23, 'SchemaList'],
      allOf: [24, 'Schema[]'],
      properties: [25, 'Properties'],
      readOnly: [27, 'flag'],
      example: [30, 'any'],
    },
    extensions: 31,
  },
};

const PAIR_NAME = 1;
const PAIR_VALUE = 2;
const ANY_YAML = 2;

function framed(number: number, write: ValueWriter): ValueWriter {
  const tag = tagOf(number, WIRE_BYTES);
  return (value, writer) => {
    const from = writer.size;
    write(value, writer);
    writer.lengthSince(from, tag);
  };
}

const writeText: ValueWriter = (value, writer) => writer.text(String(value));
const writeYaml = framed(ANY_YAML, writeText);

/** What stands between a member's tag and the next; of messages without their length. */
const SPECIAL_BODIES: Readonly<Record<string, () => ValueWriter>> = {
  text: () => writeText,
  // Any value is carried as YAML, of which JSON is a part.
  any: () => (value, writer) => writeYaml(JSON.stringify(value), writer),
  Parameter: parameterWriter,
  ResponseValue: () => framed(1, messageWriter('Response')),
  SchemaItem: () => framed(1, messageWriter('Schema')),
  SecurityDefinition: () => framed(2, messageWriter('ApiKeySecurity')),
  TextList: () => listOf(framed(1, writeText)),
  SchemaList: () => listOf(framed(1, messageWriter('Schema'))),
  AdditionalProperties: () => {
    const writeSchema = framed(1, messageWriter('Schema'));
    const writeFlag = numberWriter(2, (value, writer) => writer.varint(value === true ? 1 : 0));
    return (value, writer) => (typeof value === 'boolean' ? writeFlag : writeSchema)(value, writer);
  },
};

/** One value or a list of them. */
const listOf =
  (write: ValueWriter): ValueWriter =>
  (value, writer) => {
    const list = Array.isArray(value) ? value : [value];
    for (let i = list.length - 1; i >= 0; i--) write(list[i], writer);
  };

function parameterWriter(): ValueWriter {
  const writeBody = framed(1, messageWriter('BodyParameter'));
  const writeQuery = framed(2, framed(3, messageWriter('QueryParameter')));
  const writePath = framed(2, framed(4, messageWriter('PathParameter')));
  const item = framed(1, (value, writer) => {
    const place = (value as { in: string }).in;
    (place === 'body' ? writeBody : place === 'path' ? writePath : writeQuery)(value, writer);
  });
  return item;
}

function numberWriter(number: number, write: ValueWriter, wireType = WIRE_VARINT): ValueWriter {
  const tag = tagOf(number, wireType);
  return (value, writer) => {
    write(value, writer);
    writer.varint(tag);
  };
}

const WIRE_DOUBLE = 1;

function memberWriter([number, holds]: Member): ValueWriter {
  if (holds.endsWith('[]')) return listOf(memberWriter([number, holds.slice(0, -2)]));
  if (holds === 'flag') return numberWriter(number, (value, writer) => writer.byte(value === true ? 1 : 0));
  if (holds === 'integer') return numberWriter(number, (value, writer) => writer.varint(value as number));
  if (holds === 'number') return numberWriter(number, (value, writer) => writer.double(value as number), WIRE_DOUBLE);
  return framed(number, bodyWriter(holds));
}

const bodies = new Map<string, ValueWriter>();

function bodyWriter(name: string): ValueWriter {
  const special = SPECIAL_BODIES[name];
  if (special === undefined) return messageWriter(name);
  let body = bodies.get(name);
  if (body === undefined) {
    body = special();
    bodies.set(name, body);
  }
  return body;
}

/** Writers are looked up when they run, because messages contain themselves. */
function messageWriter(name: string): ValueWriter {
  let write: ValueWriter | undefined;
  return (value, writer) => {
    write ??= compiled(name);
    write(value, writer);
  };
}

const messages = new Map<string, ValueWriter>();

function compiled(name: string): ValueWriter {
  let write = messages.get(name);
  if (write === undefined) {
    write = compile(MESSAGES[name]!);
    messages.set(name, write);
  }
  return write;
}

function pairWriter([number, holds]: Member): ValueWriter {
  const writeName = framed(PAIR_NAME, writeText);
  const writeValue = framed(PAIR_VALUE, bodyWriter(holds));
  return framed(number, (pair, writer) => {
    const [name, value] = pair as readonly [string, unknown];
    writeValue(value, writer);
    writeName(name, writer);
  });
}

function compile({ members, extensions, pairs }: MessageTable): ValueWriter {
  const writers = new Map(Object.entries(members).map(([name, member]) => [name, memberWriter(member)]));
  const writeExtension = extensions === undefined ? undefined : pairWriter([extensions, 'any']);
  const writePair = pairs === undefined ? undefined : pairWriter(pairs);
  return (value, writer) => {
    const entries = Object.entries(value as Record<string, unknown>);
    for (let i = entries.length - 1; i >= 0; i--) {
      const [name, member] = entries[i]!;
      if (member === undefined) continue;
      const write = writers.get(name);
      const isExtension = writeExtension !== undefined && name.startsWith('x-');
      if (write !== undefined) write(member, writer);
      else (isExtension ? writeExtension : writePair)?.(entries[i], writer);
    }
  };
}
