// Reads the Protobuf schema files of api/schema: proto2 files with messages, fields, imports and options, as protobufjs
// understands them. What else that language has, these files have not, and it is refused. Not needed at run time.
import protobuf from 'protobufjs';

/** An option's value: a text, flag or number, or a structure `{name: value, …}`. */
export type OptionValue = string | number | boolean | OptionStructure | readonly OptionValue[];
export interface OptionStructure {
  readonly [name: string]: OptionValue;
}

/** Options in source order; a repeated option stands several times. Those of ours without their parentheses. */
export type Options = readonly (readonly [name: string, value: OptionValue])[];

export interface ParsedField {
  readonly name: string;
  readonly number: number;
  readonly label: 'optional' | 'repeated' | 'map';
  /** As written: a scalar, a message of the file, or `package.Message`. */
  readonly type: string;
  readonly options: Options;
}

export interface ParsedMessage {
  readonly name: string;
  readonly options: Options;
  readonly fields: readonly ParsedField[];
}

export interface ParsedFile {
  readonly path: string;
  readonly package: string;
  readonly options: Options;
  readonly messages: readonly ParsedMessage[];
}

/**
 * Parses one schema file.
 *
 * @param path names the file in errors.
 * @throws SyntaxError with file and line when the source is no Protobuf schema, TypeError with file and name when it has more
 * than these files may have.
 */
export function parseProto(path: string, source: string): ParsedFile {
  if (!/^syntax = "proto2";$/m.test(source)) throw new TypeError(`${path}: the syntax is not proto2`);
  const root = new protobuf.Root();
  const packageName = packageOf(path, source, root);
  const scope = packageName === '' ? root : root.lookup(packageName);
  if (!(scope instanceof protobuf.Namespace)) throw new TypeError(`${path}: there is no package`);
  const messages = scope.nestedArray.map((one) => {
    if (!(one instanceof protobuf.Type)) throw new TypeError(`${path}: ${one.name} is no message`);
    return messageOf(path, one);
  });
  return { path, package: packageName, options: optionsOf(scope), messages };
}

/** Adds what the source declares to the root. */
function packageOf(path: string, source: string, root: protobuf.Root): string {
  try {
    return protobuf.parse(source, root, { keepCase: true }).package ?? '';
  } catch (error) {
    throw new SyntaxError(`${path}: ${(error as Error).message}`);
  }
}

function messageOf(path: string, type: protobuf.Type): ParsedMessage {
  const ranges = [...(type.extensions ?? []), ...(type.reserved ?? [])];
  if (type.nestedArray.length > 0 || type.oneofsArray.length > 0 || ranges.length > 0) {
    throw new TypeError(`${path}: ${type.name} has more than fields and options`);
  }
  return {
    name: type.name,
    options: optionsOf(type),
    fields: type.fieldsArray.map((field) => fieldOf(`${path}: ${type.name}`, field)),
  };
}

function fieldOf(place: string, field: protobuf.Field): ParsedField {
  const { name, id, type } = field;
  if (field instanceof protobuf.MapField && field.keyType !== 'string') {
    throw new TypeError(`${place}: the keys of ${name} are no strings`);
  }
  if (field.rule === 'required') throw new TypeError(`${place}: ${name} is required, which no field is on the wire`);
  const label = field instanceof protobuf.MapField ? 'map' : field.repeated ? 'repeated' : 'optional';
  return { name, number: id, label, type, options: optionsOf(field) };
}

function optionsOf({ parsedOptions }: protobuf.ReflectionObject): Options {
  const options = (parsedOptions ?? []) as readonly Readonly<Record<string, OptionValue>>[];
  return options.flatMap((option) =>
    Object.entries(option).map(([name, value]) => [name.replace(/^\((.*)\)$/, '$1'), value] as const),
  );
}
