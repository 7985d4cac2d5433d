// Schemas of custom types, as definitions bring them: nested, with everything that a JSON schema can say.
import { decode } from '../../../api/codec/decode.ts';
import { applyDefaults } from '../../../api/codec/defaults.ts';
import { objectValidation } from '../../../api/validation/object-validation.ts';
import { parseFeatureGates } from '../../../config/feature-gates.ts';
import { decodeJson } from '../../../transport/body.ts';
import type { Dice } from '../generate/dice.ts';
import { DIALECT, DOCUMENTS, SCHEMA } from '../generate/documents.ts';
import { deepJunk } from '../generate/junk.ts';
import type { Input } from '../input.ts';
import { accepted, type Target } from '../target.ts';

const VERSIONS = ['v1', 'v1beta1'].map((version) => `apiextensions/${version}`);
const gates = parseFeatureGates('', DIALECT);
const VALIDATION = objectValidation(SCHEMA, { allowPrivileged: true, gate: (name) => gates.enabled(name) });
const PATTERNS = ['(a+)+$', '[', '^a{1,99999}$', '\\\\p{L}', '(?=a)', '('.repeat(500), 'a*'.repeat(200)];

function generate(dice: Dice): Input {
  const file = dice.pick(VERSIONS);
  const type = SCHEMA.type(`${file}.CustomResourceDefinition`);
  const object = DOCUMENTS.plausible(type, dice) as Record<string, unknown>;
  const schema = DOCUMENTS.made(SCHEMA.type(`${file}.JSONSchemaProps`), dice, 0.08 + dice.next() * 0.2);
  if (dice.oneIn(3)) (schema as Record<string, unknown>).pattern = dice.pick(PATTERNS);
  if (dice.oneIn(30)) (schema as Record<string, unknown>).default = deepJunk(dice, dice.below(500));
  const root = { type: 'object', properties: { spec: dice.oneIn(2) ? { type: 'object', ...schema } : schema } };
  const spec = (object.spec ?? {}) as Record<string, unknown>;
  const versions = Array.isArray(spec.versions) ? (spec.versions as unknown[]) : [];
  for (const version of versions)
    if (typeof version === 'object' && version !== null) Object.assign(version, { schema: { openAPIV3Schema: root } });
  const value = dice.oneIn(2) ? object : DOCUMENTS.mutated(object, dice);
  return { text: { type: type.name }, body: Buffer.from(JSON.stringify(value)) };
}

function run({ text, body }: Input): void {
  const type = SCHEMA.type(text.type ?? '');
  const value = accepted(() => decodeJson(body));
  const object = accepted(() => {
    const decoded = decode(value, type).object;
    applyDefaults(decoded, type);
    return decode(decoded, type).object;
  });
  if (object === undefined) return;
  VALIDATION.create(object, type);
  VALIDATION.update(object, object, type, '');
}

export const structural: Target = { name: 'structural', weight: 1, generate, run };
