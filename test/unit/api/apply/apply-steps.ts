// What the tables of applies are made of: steps that managers take on one object, and short ways of writing it.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { LiveObject, Writable } from './live-object.ts';

/** What a manager does to the object. */
export type Step =
  | readonly ['apply' | 'force' | 'applyStatus' | 'create', manager: string, given: JsonObject]
  | readonly ['untracked', given: JsonObject]
  | readonly ['update', manager: string, change: (object: Writable) => void];

export const POD = 'core/v1.Pod';
export const DEPLOYMENT = 'apps/v1.Deployment';
export const SERVICE = 'core/v1.Service';
export const CONFIG_MAP = 'core/v1.ConfigMap';
export const NODE = 'core/v1.Node';

export const data = (members: JsonObject): JsonObject => ({ data: members });
export const containers = (...list: readonly JsonObject[]): JsonObject => ({ spec: { containers: list } });
export const image = (name: string, tag: string): JsonObject => ({ name, image: `${name}:${tag}` });

/** Takes a step. Throws what it is refused with. */
export function perform(live: LiveObject, step: Step): void {
  if (step[0] === 'untracked') live.createUntracked(step[1]);
  else if (step[0] === 'create') live.create(step[1], step[2]);
  else if (step[0] === 'update') live.update(step[1], step[2]);
  else {
    const subresource = step[0] === 'applyStatus' ? 'status' : '';
    live.apply(step[1], step[2], { force: step[0] === 'force', subresource });
  }
}
