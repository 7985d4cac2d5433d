// Objects for the tests of validation: read from the fixtures, spelled in a dialect, completed as the write path does.
import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { decode } from '../../../../api/codec/decode.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { splitApiVersion } from '../../../../api/resources/resource-table.ts';
import { schemaOf, type TypeSchema } from '../../../../api/schema/schema.ts';
import {
  type ObjectValidation,
  objectValidation,
  type ValidatedType,
} from '../../../../api/validation/object-validation.ts';
import type { ValidationSettings } from '../../../../api/validation/report.ts';
import { DIALECTS, type Dialect, type DialectName } from '../../../../config/dialect.ts';
import { parseFeatureGates } from '../../../../config/feature-gates.ts';

export interface TestObject {
  /** `Pod shop/full`. */
  readonly title: string;
  readonly type: ValidatedType;
  readonly schema: TypeSchema;
  readonly object: JsonObject;
}

/** Texts too long to stand in a fixture, in base64. */
const LONG_TEXTS: Readonly<Record<string, string>> = {
  '@request': readFileSync('test/fixtures/certificate-requests/user.pem').toString('base64'),
  '@certificate': readFileSync('test/fixtures/certificate-requests/user.crt').toString('base64'),
  '@forged': forged(readFileSync('test/fixtures/certificate-requests/user.pem', 'utf8')).toString('base64'),
};

/** A certificate request with the last byte of its signature changed. */
function forged(pem: string): Buffer {
  const [head, body, foot] = /^(-+[^-]+-+)([^-]+)(-+[^-]+-+)/.exec(pem)!.slice(1) as [string, string, string];
  const der = Buffer.from(body, 'base64');
  der[der.length - 1]! ^= 1;
  return Buffer.from(`${head}\n${der.toString('base64')}\n${foot}\n`);
}

/** The settings of a server that was told nothing, but for these gates. */
export function settings(dialect: Dialect, gates = '', allowPrivileged = false): ValidationSettings {
  const { enabled } = parseFeatureGates(gates, dialect);
  return { allowPrivileged, gate: enabled };
}

export function validationOf(name: DialectName, gates = '', allowPrivileged = false): ObjectValidation {
  const dialect = DIALECTS[name];
  return objectValidation(schemaOf(dialect), settings(dialect, gates, allowPrivileged));
}

/** The documents of a YAML text, in a dialect's words. */
export function documents(text: string, dialect: Dialect): unknown[] {
  const spelled = dialect.spell(text.replace(/@(?:request|certificate|forged)/g, (name) => LONG_TEXTS[name]!));
  return parseAllDocuments(spelled).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return document.toJS() as unknown;
  });
}

/** An object with its defaults, in canonical form. */
export function complete(value: JsonObject, dialect: Dialect): TestObject {
  const { group, version } = splitApiVersion(String(value.apiVersion));
  const kind = String(value.kind);
  const schema = schemaOf(dialect).kind(group, version, kind);
  if (schema === undefined) throw new Error(`the schema has no ${value.apiVersion} ${kind}`);
  const decoded = decode(structuredClone(value), schema);
  if (decoded.unknownFields.length > 0) throw new Error(`${kind} has no field ${decoded.unknownFields.join()}`);
  applyDefaults(decoded.object, schema);
  const { object } = decode(decoded.object, schema);
  const { name = '', namespace = '' } = (object.metadata ?? {}) as { name?: string; namespace?: string };
  const place = namespace === '' ? name : `${namespace}/${name}`;
  return { title: `${String(value.apiVersion)} ${kind} ${place}`, type: { group, version, kind }, schema, object };
}

const validByDialect = new Map<DialectName, readonly TestObject[]>();

/** Every object of test/fixtures/valid, read once: nobody changes them. */
export function validObjects(name: DialectName): readonly TestObject[] {
  const objects = validByDialect.get(name) ?? readValid(name);
  validByDialect.set(name, objects);
  return objects;
}

function readValid(name: DialectName): TestObject[] {
  const dialect = DIALECTS[name];
  return readdirSync('test/fixtures/valid').flatMap((file) =>
    documents(readFileSync(`test/fixtures/valid/${file}`, 'utf8'), dialect).map((value) =>
      complete(value as JsonObject, dialect),
    ),
  );
}
