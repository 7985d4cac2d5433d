// Patches and applies of objects that are there, through the whole write path as dry runs: refused by a code of class 4xx, or
// answered with an object in canonical form.
import { decode } from '../../../api/codec/decode.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { APPLY_PATCH, STRATEGIC_MERGE_PATCH } from '../../../api/patch/apply-patch.ts';
import { yamlText } from '../../../transport/yaml/write.ts';
import type { Dice } from '../generate/dice.ts';
import { SCHEMA } from '../generate/documents.ts';
import { mutatedBytes } from '../generate/mutate-text.ts';
import { configuration, jsonPatch, mergePatch, strategicPatch } from '../generate/patches.ts';
import type { Input } from '../input.ts';
import { requireSame, type Target } from '../target.ts';
import { type LiveObject, WRITE_WORLD, writeOf } from '../write-world.ts';
import { REGISTRY } from './requests.ts';

const KINDS_OF_PATCH: readonly (readonly [string, (object: JsonObject, dice: Dice) => unknown])[] = [
  ['application/json-patch+json', jsonPatch],
  ['application/merge-patch+json', mergePatch],
  [STRATEGIC_MERGE_PATCH, strategicPatch],
  [APPLY_PATCH, configuration],
];

function generate(dice: Dice): Input {
  const live = dice.pick(WRITE_WORLD.live);
  const [contentType, make] = dice.pick(KINDS_OF_PATCH);
  const patch = make(JSON.parse(live.text) as JsonObject, dice);
  const isApply = contentType === APPLY_PATCH;
  const text = isApply && dice.oneIn(3) ? yamlText(patch) : (JSON.stringify(patch) ?? 'null');
  const bytes = Buffer.from(text);
  const parameters = isApply
    ? { dryRun: ['All'], fieldManager: dice.pick(['a', 'b', 'fuzz']), ...(dice.oneIn(2) ? { force: 'true' } : {}) }
    : { dryRun: ['All'] };
  return {
    text: {
      verb: 'patch',
      contentType,
      target: JSON.stringify({ ...live.target, subresource: subresource(live, dice) }),
      parameters: JSON.stringify(parameters),
    },
    body: dice.oneIn(10) ? mutatedBytes(bytes, dice) : bytes,
  };
}

function subresource({ type }: LiveObject, dice: Dice): string {
  return dice.oneIn(10) ? dice.pick(['status', 'scale', ...type.subresources.keys()]) : '';
}

async function run({ text, body }: Input): Promise<void> {
  const write = writeOf(text, body);
  const reply = await WRITE_WORLD.write(write);
  if (reply.code >= 300 || !('body' in reply)) return;
  const { group, version, resource, subresource } = write.target;
  const type = subresource === 'scale' ? undefined : REGISTRY.byPath(group, version, resource);
  const schema = type === undefined ? undefined : SCHEMA.kind(group, version, type.kind);
  if (schema === undefined) return;
  // Members of metadata are put in order when the object is written.
  const answer = JSON.parse(JSON.stringify(reply.body)) as JsonObject;
  const again = decode(JSON.parse(JSON.stringify(reply.body)), schema).object;
  if (!deepEqual(again, answer)) requireSame(JSON.stringify(again), JSON.stringify(answer), 'the patched object');
}

export const patches: Target = {
  name: 'patch',
  weight: 1.5,
  start: () => WRITE_WORLD.start(),
  stop: () => WRITE_WORLD.stop(),
  fixed: ['verb', 'target', 'parameters'],
  generate,
  run,
};
