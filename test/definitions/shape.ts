// What test/fixtures/definitions say of types, in few words: a schema as a project publishes it, an object that fills it, and objects
// that it refuses with what is said of them.
//
//   name!: string            a member that must be there          name: string 1..63 /^a$/ ~a =b   lengths, pattern, sample, default
//   list/name: [{name!: …}]  a list whose items have keys         mode: A|B =A                     one of these, A unless said
//   {'*': int}               a map                                map, any, embedded               texts by text, anything, an object
//   [string]                 a list                               Container                        as the built-in type is published

export type Shape = string | readonly [Shape] | { readonly [member: string]: Shape };
export type Schema = { readonly [keyword: string]: unknown };

/** How one dialect says what schemas have of its own, and the built-in types as it publishes them. */
export interface ShapeWords {
  readonly prefix: string;
  readonly builtIn: (name: string) => Schema;
}

/** A value that is refused at a path of an object, `undefined`: the member is left out, and the words behind the path. */
export interface Refusal {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly message: string;
}

/** Of the built-in types that shapes name, the least that is an object of them. */
const BUILT_IN: Readonly<Record<string, unknown>> = {
  Affinity: {},
  Container: { name: 'c', image: 'i' },
  EmptyDirVolumeSource: { medium: 'Memory' },
  LabelSelector: { matchLabels: { a: 'b' } },
  PersistentVolumeClaimSpec: { accessModes: ['ReadWriteOnce'] },
  PodSecurityContext: { runAsUser: 1 },
  PodTemplateSpec: { spec: { containers: [{ name: 'c', image: 'i' }] } },
  ResourceRequirements: { limits: { cpu: '1' } },
  SecurityContext: { runAsUser: 1 },
  Toleration: { key: 'a', operator: 'Exists' },
  TopologySpreadConstraint: { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
  Volume: { name: 'v' },
  VolumeMount: { name: 'v', mountPath: '/v' },
};

const QUANTITY =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

interface Scalar {
  /** Without the keywords that only one dialect has: `x-…` stands for its prefix. */
  readonly schema: Schema;
  readonly sample: unknown;
  /** What a value of a wrong type is told, and that value. */
  readonly wrong: readonly [value: unknown, type: string, actual: string];
}

const SCALARS: Readonly<Record<string, Scalar>> = {
  string: { schema: { type: 'string' }, sample: 'abc', wrong: [7, 'string', 'integer'] },
  int: { schema: { type: 'integer' }, sample: 8, wrong: ['x', 'integer', 'string'] },
  int32: { schema: { type: 'integer', format: 'int32' }, sample: 8, wrong: [1.5, 'integer', 'number'] },
  int64: { schema: { type: 'integer', format: 'int64' }, sample: 8, wrong: [true, 'integer', 'boolean'] },
  number: { schema: { type: 'number' }, sample: 0.5, wrong: ['x', 'number', 'string'] },
  bool: { schema: { type: 'boolean' }, sample: true, wrong: ['yes', 'boolean', 'string'] },
  byte: { schema: { type: 'string', format: 'byte' }, sample: 'YQ==', wrong: [7, 'byte', 'int64'] },
  time: {
    schema: { type: 'string', format: 'date-time' },
    sample: '2022-01-01T00:00:00Z',
    wrong: [{}, 'string', 'object'],
  },
  quantity: {
    schema: { anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: QUANTITY, 'x-int-or-string': true },
    sample: '100m',
    wrong: [[], 'integer,string', 'array'],
  },
  intOrString: {
    schema: { 'x-int-or-string': true },
    sample: '25%',
    wrong: [true, 'integer,string', 'boolean'],
  },
  map: {
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    sample: { a: 'b' },
    wrong: ['x', 'object', 'string'],
  },
  any: {
    schema: { type: 'object', 'x-preserve-unknown-fields': true },
    sample: { free: [1, { form: true }] },
    wrong: [7, 'object', 'integer'],
  },
  embedded: {
    schema: { type: 'object', 'x-embedded-resource': true, 'x-preserve-unknown-fields': true },
    sample: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } },
    wrong: ['x', 'object', 'string'],
  },
};

const SCALAR = /^([a-z]\w*)(?: (\d*)\.\.(\d*))?(?: \/(.*)\/ ~(\S+))?(?: =(.*))?$/;
const MEMBER = /^([^!/]+)(!)?(?:\/(\w+))?$/;

interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  /** Of the items of a list, which of their members tells them apart. */
  readonly mapKey: string | undefined;
  readonly shape: Shape;
}

function membersOf(shape: { readonly [member: string]: Shape }): Member[] {
  return Object.entries(shape).map(([text, of]) => {
    const [, name, mark, mapKey] = MEMBER.exec(text)!;
    return { name: name!, isRequired: mark !== undefined, mapKey, shape: of };
  });
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

/** The structural schema of a shape. */
export function schemaOf(shape: Shape, words: ShapeWords): Schema {
  if (typeof shape === 'string') return textSchema(shape, words);
  if (isList(shape)) return { type: 'array', items: schemaOf(shape[0], words) };
  if (shape['*'] !== undefined) return { type: 'object', additionalProperties: schemaOf(shape['*'], words) };
  const members = membersOf(shape);
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const properties = members.map(({ name, mapKey, shape: of }) => {
    const schema = schemaOf(of, words);
    const keys = { [`${words.prefix}list-type`]: 'map', [`${words.prefix}list-map-keys`]: [mapKey] };
    return [name, mapKey === undefined ? schema : { ...schema, ...keys }];
  });
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties: Object.fromEntries(properties) };
}

function textSchema(text: string, words: ShapeWords): Schema {
  if (BUILT_IN[text] !== undefined) return words.builtIn(text);
  const read = readScalar(text);
  if (read === undefined) {
    const { values, preset } = choiceOf(text);
    return { type: 'string', enum: values, ...(preset === undefined ? {} : { default: preset }) };
  }
  const { scalar, least, most, pattern, preset } = read;
  const [low, high] = scalar.schema.type === 'string' ? ['minLength', 'maxLength'] : ['minimum', 'maximum'];
  return {
    ...Object.fromEntries(Object.entries(scalar.schema).map(([key, of]) => [key.replace(/^x-/, words.prefix), of])),
    ...(least === undefined ? {} : { [low!]: least }),
    ...(most === undefined ? {} : { [high!]: most }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(preset === undefined ? {} : { default: scalar.schema.type === 'string' ? preset : JSON.parse(preset) }),
  };
}

function readScalar(text: string) {
  const [, type, least, most, pattern, sample, preset] = SCALAR.exec(text) ?? [];
  const scalar = type === undefined ? undefined : SCALARS[type];
  const bound = (digits: string | undefined): number | undefined =>
    digits === undefined || digits === '' ? undefined : Number(digits);
  return scalar && { scalar, least: bound(least), most: bound(most), pattern, sample, preset };
}

function choiceOf(text: string): { readonly values: readonly string[]; readonly preset: string | undefined } {
  const [values, preset] = text.split(' =');
  return { values: values!.split('|'), preset };
}

/** A value with every member there is. */
export function sampleOf(shape: Shape): unknown {
  if (typeof shape === 'string') {
    if (BUILT_IN[shape] !== undefined) return BUILT_IN[shape];
    const read = readScalar(shape);
    return read === undefined ? choiceOf(shape).values.at(-1) : (read.sample ?? read.scalar.sample);
  }
  if (isList(shape)) return [sampleOf(shape[0])];
  if (shape['*'] !== undefined) return { one: sampleOf(shape['*']) };
  return Object.fromEntries(membersOf(shape).map(({ name, shape: of }) => [name, sampleOf(of)]));
}

/** What a shape refuses, at every place of it. */
export function* refusalsOf(shape: Shape, path: readonly (string | number)[]): Generator<Refusal> {
  const told = (value: unknown, shown: string, complaint: string): Refusal => ({
    path,
    value,
    message: `Invalid value: ${shown}: ${pathText(path)} in body ${complaint}`,
  });
  const wrongType = (value: unknown, type: string, actual: string): Refusal =>
    told(value, `"${actual}"`, `must be of type ${type}: "${actual}"`);
  if (typeof shape === 'string') {
    yield* textRefusals(shape, path, told, wrongType);
  } else if (isList(shape)) {
    yield wrongType({}, 'array', 'object');
    yield* refusalsOf(shape[0], [...path, 0]);
  } else if (shape['*'] !== undefined) {
    yield wrongType(7, 'object', 'integer');
    yield* refusalsOf(shape['*'], [...path, 'one']);
  } else {
    yield wrongType('x', 'object', 'string');
    for (const { name, isRequired, shape: of } of membersOf(shape)) {
      const at = [...path, name];
      if (isRequired) yield { path: at, value: undefined, message: 'Required value' };
      yield* refusalsOf(of, at);
    }
  }
}

function* textRefusals(
  text: string,
  path: readonly (string | number)[],
  told: (value: unknown, shown: string, complaint: string) => Refusal,
  wrongType: (value: unknown, type: string, actual: string) => Refusal,
): Generator<Refusal> {
  const read = readScalar(text);
  if (BUILT_IN[text] !== undefined) yield wrongType(7, 'object', 'integer');
  else if (read === undefined) {
    const supported = choiceOf(text).values.map((value) => `"${value}"`);
    yield {
      path,
      value: 'nonsense',
      message: `Unsupported value: "nonsense": supported values: ${supported.join(', ')}`,
    };
  } else {
    const { scalar, least, most, pattern } = read;
    yield wrongType(...scalar.wrong);
    const isText = scalar.schema.type === 'string';
    if (pattern !== undefined) yield told('(no)', '"(no)"', `should match '${pattern}'`);
    else if (isText && most !== undefined) {
      const long = 'a'.repeat(most + 1);
      yield told(long, `"${long}"`, `should be at most ${most} chars long`);
    } else if (isText && least !== undefined && least > 0)
      yield told('', '""', `should be at least ${least} chars long`);
    if (isText) return;
    if (least !== undefined) yield told(least - 1, String(least - 1), `should be greater than or equal to ${least}`);
    if (most !== undefined) yield told(most + 1, String(most + 1), `should be less than or equal to ${most}`);
  }
}

/** As errors say where something is: in which item of a list they do not. */
export function pathText(path: readonly (string | number)[]): string {
  return path.filter((step) => typeof step === 'string').join('.');
}

/** A copy of the object that has the refused value at its place. */
export function refused(object: unknown, { path, value }: Refusal): unknown {
  const copy = structuredClone(object);
  let place = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) place = place[step] as Record<string | number, unknown>;
  const last = path.at(-1)!;
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}
