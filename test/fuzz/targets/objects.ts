// Objects of every kind: decoded, defaulted, validated; and those that are valid, in every form in which they leave the
// server again or are read inside it.

import { readPod } from '../../../actors/scheduler/pods/pod-info.ts';
import { StoredForm } from '../../../api/catalog/stored-form.ts';
import { decode } from '../../../api/codec/decode.ts';
import { applyDefaults } from '../../../api/codec/defaults.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../api/codec/protobuf.ts';
import { parseExact } from '../../../api/json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { scaleOf } from '../../../api/scale.ts';
import type { TypeSchema } from '../../../api/schema/schema.ts';
import { selectableValues } from '../../../api/selectors/selectable-values.ts';
import { Shaping } from '../../../api/table/shape.ts';
import { objectValidation } from '../../../api/validation/object-validation.ts';
import { parseFeatureGates } from '../../../config/feature-gates.ts';
import { prettyJson } from '../../../rendering/pretty-json.ts';
import { packAttributes, unpackAttributes } from '../../../storage/forms/attributes.ts';
import { decodeJson } from '../../../transport/body.ts';
import { yamlText } from '../../../transport/yaml/write.ts';
import type { Dice } from '../generate/dice.ts';
import { DIALECT, DOCUMENTS, KINDS, SCHEMA, STORED } from '../generate/documents.ts';
import type { Input } from '../input.ts';
import { accepted, requireSame, type Target, Violation, withoutNulls } from '../target.ts';
import { REGISTRY } from './requests.ts';

const gates = parseFeatureGates('', DIALECT);
const VALIDATION = objectValidation(SCHEMA, { allowPrivileged: true, gate: (name) => gates.enabled(name) });
const KNOWN: ReadonlyMap<string, KnownType> = new Map(
  REGISTRY.known().map((type) => [`${type.group}/${type.version}.${type.kind}`, type]),
);
/** The versions that an object of a type can be asked for in. */
const VERSIONS: ReadonlyMap<KnownType, readonly KnownType[]> = new Map(
  REGISTRY.known().map((type) => [
    type,
    REGISTRY.known().filter(
      ({ storageKey, persisted, kind }) => persisted && storageKey === type.storageKey && kind === type.kind,
    ),
  ]),
);
const FORM = new StoredForm(REGISTRY, SCHEMA);
const NOW_MS = Date.UTC(2026, 0, 1);
const REPLICATED = ['deployments', 'replicasets', 'statefulsets', 'replicationcontrollers'];

function generate(dice: Dice): Input {
  const type = dice.pick(dice.oneIn(8) ? KINDS : STORED);
  const value = DOCUMENTS.mutated(DOCUMENTS.plausible(type, dice), dice);
  return { text: { type: type.name }, body: Buffer.from(JSON.stringify(value)) };
}

/** The object as a create would store it; undefined when it is refused. */
function completed(value: unknown, type: TypeSchema): JsonObject | undefined {
  return accepted(() => {
    const { object } = decode(value, type);
    const text = JSON.stringify(object);
    requireSame(JSON.stringify(decode(parseExact(text), type).object), text, 'canonical form made twice');
    applyDefaults(object, type);
    return decode(object, type).object;
  });
}

function run({ text, body }: Input): void {
  const type = SCHEMA.type(text.type ?? '');
  const value = accepted(() => decodeJson(body));
  const object = completed(value, type);
  if (object === undefined) return;
  const before = JSON.stringify(object);
  applyDefaults(object, type);
  const again = JSON.stringify(decode(object, type).object);
  requireSame(again, before, 'defaults set twice');
  const errors = VALIDATION.create(object, type);
  VALIDATION.update(object, object, type, '');
  VALIDATION.update(object, object, type, 'status');
  requireSame(JSON.stringify(object), before, 'an object that was only validated');
  const known = KNOWN.get(`${type.group}/${type.version}.${type.kind}`);
  if (known !== undefined) convert(known, before);
  if (errors.length === 0) leaves(object, known, type, before);
}

/** What is written in one version is stored in another, and read in all. */
function convert(known: KnownType, text: string): void {
  // The path has said by now what a body may leave unsaid.
  const { kind, apiVersion } = known;
  const named = { ...(parseExact(text) as JsonObject), kind, apiVersion };
  const { object } = decode(named, SCHEMA.kind(known.group, known.version, kind)!);
  const stored = accepted(() => FORM.stored(known, object));
  if (stored === undefined) return;
  const storedText = JSON.stringify(stored);
  for (const other of VERSIONS.get(known) ?? []) {
    const schema = SCHEMA.kind(other.group, other.version, other.kind);
    const asked = FORM.asked(other, parseExact(storedText) as JsonObject);
    const askedText = JSON.stringify(asked);
    if (schema !== undefined)
      requireSame(JSON.stringify(decode(asked, schema).object), askedText, `in ${other.apiVersion}`);
  }
}

/** Whatever is valid may be stored, and must then come out of every door. */
function leaves(object: JsonObject, known: KnownType | undefined, type: TypeSchema, text: string): void {
  if (!type.jsonOnly) {
    const again = decodeProtobuf(encodeProtobuf(object, type), type).object;
    const expected = withoutTypeMeta(object, type);
    requireSame(withoutNulls(JSON.stringify(again)), withoutNulls(JSON.stringify(expected)), 'Protobuf');
  }
  yamlText(object);
  requireSame(JSON.stringify(parseExact(Buffer.from(prettyJson(Buffer.from(text))).toString())), text, 'indented');
  if (known === undefined) return;
  for (const kind of ['Table', 'PartialObjectMetadata'] as const) {
    const shape = {
      kind,
      metaGroup: DIALECT.metaGroup,
      version: 'v1',
      includeObject: 'Object',
      dialect: 'orch',
    } as const;
    JSON.stringify(new Shaping(shape, known, NOW_MS).object(object));
  }
  const metadata = isJsonObject(object.metadata) ? object.metadata : {};
  const values = selectableValues(object, known.selectableFields);
  const labels = metadata.labels as Record<string, string> | undefined;
  const unpacked = unpackAttributes(packAttributes(labels, values));
  if (
    unpacked.fields.length !== values.length &&
    values.length > 0 &&
    !JSON.stringify(labels ?? {}).includes('\\u0000')
  )
    throw new Violation(`${values.length} selectable values became ${unpacked.fields.length}`);
  if (REPLICATED.includes(known.plural)) scaleOf(object);
  if (known.plural === 'pods') readPod(object);
}

/** The object without what JSON alone says: which kind it is, and which kind the objects inside are. */
function withoutTypeMeta(object: JsonObject, type: TypeSchema): JsonObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  const members: JsonObject = type.hasTypeMeta ? rest : object;
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const inner = type.field(name)?.type;
      if (inner === undefined) return [name, value];
      const stripped = (item: unknown): unknown => (isJsonObject(item) ? withoutTypeMeta(item, inner) : item);
      return [name, Array.isArray(value) ? value.map(stripped) : stripped(value)];
    }),
  );
}

/** Decoded, defaulted, validated and converted over and over, so that the results can be compared. */
export const OBJECT_PASSES = 10;

export const objects: Target = { name: 'objects', weight: 3, passes: OBJECT_PASSES, generate, run };
