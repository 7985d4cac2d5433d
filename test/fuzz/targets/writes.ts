// Writes of every verb to every resource and subresource, in every media type, as dry runs.
import { decode } from '../../../api/codec/decode.ts';
import { encodeEnveloped } from '../../../api/codec/protobuf.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { TypeSchema } from '../../../api/schema/schema.ts';
import { yamlText } from '../../../transport/yaml/write.ts';
import type { Dice } from '../generate/dice.ts';
import { DIALECT, DOCUMENTS, SCHEMA } from '../generate/documents.ts';
import { junk, ODD_TEXTS } from '../generate/junk.ts';
import { mutatedBytes } from '../generate/mutate-text.ts';
import type { Input } from '../input.ts';
import { accepted, type Target } from '../target.ts';
import { WRITE_WORLD, writeOf } from '../write-world.ts';
import { REGISTRY } from './requests.ts';
import { fieldSelectorText, labelSelectorText } from './selectors.ts';

const VERBS: readonly string[] = [
  'create',
  'create',
  'create',
  'update',
  'update',
  'patch',
  'delete',
  'deletecollection',
];
const TYPES = REGISTRY.all();
const MEDIA_TYPES: readonly string[] = [
  'application/json',
  '',
  'application/yaml',
  DIALECT.protobufMediaType,
  'text/x',
  'a',
];

function parameters(dice: Dice): Readonly<Record<string, unknown>> {
  const made: Record<string, unknown> = { dryRun: dice.oneIn(40) ? [dice.pick(ODD_TEXTS), 'All'] : ['All'] };
  const text = (): string => dice.pick(ODD_TEXTS);
  if (dice.oneIn(6)) made.fieldManager = dice.oneIn(2) ? 'a' : text();
  if (dice.oneIn(10)) made.force = dice.oneIn(2) ? 'true' : text();
  if (dice.oneIn(10)) made.gracePeriodSeconds = dice.oneIn(2) ? '0' : text();
  if (dice.oneIn(10)) made.orphanDependents = dice.oneIn(2) ? 'true' : text();
  if (dice.oneIn(8))
    made.propagationPolicy = dice.oneIn(4) ? text() : dice.pick(['Orphan', 'Background', 'Foreground']);
  if (dice.oneIn(10)) made.labelSelector = labelSelectorText(dice);
  if (dice.oneIn(10)) made.fieldSelector = fieldSelectorText(dice);
  if (dice.oneIn(10)) made.limit = dice.oneIn(2) ? '2' : text();
  if (dice.oneIn(10)) made.resourceVersion = dice.oneIn(2) ? '1' : text();
  if (dice.oneIn(6)) made.fieldValidation = dice.oneIn(4) ? text() : dice.pick(['Strict', 'Warn', 'Ignore']);
  return made;
}

/** The type that the body of a write to a path is of. */
function bodyType(type: KnownType, verb: string, subresource: string, dice: Dice): TypeSchema | undefined {
  if (verb === 'delete' || verb === 'deletecollection') return SCHEMA.kind('', 'v1', 'DeleteOptions');
  const own = type.subresources.get(subresource);
  if (own !== undefined) return SCHEMA.kind(own.group, own.version, own.kind);
  const other = dice.oneIn(20) ? dice.pick(TYPES) : type;
  return SCHEMA.kind(other.group, other.version, other.kind);
}

function encoded(value: unknown, contentType: string, type: TypeSchema | undefined): Uint8Array {
  if (contentType === 'application/yaml') return Buffer.from(yamlText(value));
  const text = JSON.stringify(value) ?? 'null';
  if (contentType !== DIALECT.protobufMediaType || type === undefined || type.jsonOnly) return Buffer.from(text);
  return accepted(() => encodeEnveloped(decode(JSON.parse(text), type).object, type)) ?? Buffer.from(text);
}

function generate(dice: Dice): Input {
  const verb = dice.pick(VERBS);
  const live = dice.oneIn(2) ? dice.pick(WRITE_WORLD.live) : undefined;
  const type = live?.type ?? dice.pick(TYPES);
  const isOfCollection = verb === 'deletecollection' || (verb === 'create' && !dice.oneIn(4));
  const subresource =
    dice.oneIn(4) && !isOfCollection ? dice.pick([...type.subresources.keys(), 'status', 'scale']) : '';
  const { group, version, plural: resource, namespaced } = type;
  const name = isOfCollection ? '' : (live?.target.name ?? dice.pick(['a', 'web', 'none']));
  const namespace = namespaced === !dice.oneIn(30) ? 'fuzz' : '';
  const schema = bodyType(type, verb, subresource, dice);
  const value = live !== undefined && verb === 'update' ? (JSON.parse(live.text) as JsonObject) : undefined;
  const plain = value ?? (schema === undefined ? junk(dice) : DOCUMENTS.plausible(schema, dice));
  const contentType = dice.oneIn(3) ? dice.pick(MEDIA_TYPES) : 'application/json';
  const body = encoded(DOCUMENTS.mutated(plain, dice), contentType, schema);
  return {
    text: {
      verb,
      contentType,
      target: JSON.stringify({ group, version, resource, subresource, namespace, name }),
      parameters: JSON.stringify(parameters(dice)),
    },
    body: dice.oneIn(12) ? mutatedBytes(body, dice) : body,
  };
}

async function run({ text, body }: Input): Promise<void> {
  WRITE_WORLD.answerText(await WRITE_WORLD.write(writeOf(text, body)));
}

export const writes: Target = {
  name: 'write',
  weight: 1.5,
  start: () => WRITE_WORLD.start(),
  stop: () => WRITE_WORLD.stop(),
  fixed: ['verb', 'target', 'parameters'],
  generate,
  run,
};
