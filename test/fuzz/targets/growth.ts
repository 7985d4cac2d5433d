// Objects that are valid but for one list or map, which is made long: what takes time by the square of its input shows here.
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { APPLY_PATCH, STRATEGIC_MERGE_PATCH } from '../../../api/patch/apply-patch.ts';
import type { Dice } from '../generate/dice.ts';
import { DOCUMENTS, STORED } from '../generate/documents.ts';
import { grownValue } from '../generate/mutate-value.ts';
import type { Input } from '../input.ts';
import type { Target } from '../target.ts';
import { WRITE_WORLD } from '../write-world.ts';
import { OBJECT_PASSES, objects } from './objects.ts';
import { patches } from './patches.ts';

const GROWTH_CHARACTERS = 250_000;
const PATCH_TYPES: readonly string[] = ['application/merge-patch+json', STRATEGIC_MERGE_PATCH, APPLY_PATCH];

function generate(dice: Dice): Input {
  return dice.oneIn(2) ? grownObject(dice) : grownPatch(dice);
}

function grownObject(dice: Dice): Input {
  const type = dice.pick(STORED);
  const value = grownValue(DOCUMENTS.plausible(type, dice), dice, GROWTH_CHARACTERS);
  return { text: { type: type.name }, body: Buffer.from(JSON.stringify(value)) };
}

function grownPatch(dice: Dice): Input {
  const live = dice.pick(WRITE_WORLD.live);
  const contentType = dice.pick(PATCH_TYPES);
  const object = JSON.parse(live.text) as Record<string, unknown>;
  const { name, namespace } = isJsonObject(object.metadata) ? object.metadata : ({} as JsonObject);
  const { status: _, ...rest } = object;
  const value = grownValue({ ...rest, metadata: { name, namespace } }, dice, GROWTH_CHARACTERS);
  const parameters = {
    dryRun: ['All'],
    ...(contentType === APPLY_PATCH ? { fieldManager: 'grower', force: 'true' } : {}),
  };
  return {
    text: { verb: 'patch', contentType, target: JSON.stringify(live.target), parameters: JSON.stringify(parameters) },
    body: Buffer.from(JSON.stringify(value)),
  };
}

export const growth: Target = {
  name: 'growth',
  weight: 0.05,
  passes: OBJECT_PASSES,
  fixed: ['verb', 'target', 'parameters', 'type', 'contentType'],
  start: () => WRITE_WORLD.start(),
  stop: () => WRITE_WORLD.stop(),
  generate,
  run: (input) => (input.text.verb === undefined ? objects.run(input) : patches.run(input)),
};
