// The language conversions are written in: a step makes an object of one version from that of another, a pair of steps
// goes both ways. Steps never change what they are given; what they leave alone is shared.
import type { Dialect } from '../../config/dialect.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { Own } from '../json/own-copy.ts';
import type { Schema } from '../schema/schema.ts';

/** What a step may ask besides the object. */
export interface StepContext {
  readonly dialect: Dialect;
  readonly schema: Schema;
}

export type Step = (object: JsonObject, context: StepContext) => JsonObject;

/** `up`: towards the hub version of the kind (the `hub` of its row in STEPS), `down`: away from it. */
export interface Pair {
  readonly up: Step;
  readonly down: Step;
}

/** A version whose form differs from the hub's. */
export interface VersionSteps extends Pair {
  /** The schema type of the hub version, such as `networking/v1.Ingress`. */
  readonly hub: string;
}

/** By schema type, such as `networking/v1beta1.Ingress`. Types without an entry have the form of the hub. */
export type StepTable = Readonly<Record<string, VersionSteps>>;

/** Members that are called differently: the name away from the hub to the name in the hub. */
export function renaming(names: Readonly<Record<string, string>>): Pair {
  const back = Object.fromEntries(Object.entries(names).map(([name, hubName]) => [hubName, name]));
  return { up: (object) => renamed(object, names), down: (object) => renamed(object, back) };
}

/** With its members called by the names that `names` gives them. */
export function renamed(object: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const result: Own<JsonObject> = {};
  const named: [to: string, value: unknown][] = [];
  for (const key of Object.keys(object)) {
    const to = Object.hasOwn(names, key) ? names[key] : undefined;
    if (to === undefined || object[key] === undefined) result[key] = object[key];
    else named.push([to, object[key]]);
  }
  // Behind the others, as they would be had they been added.
  for (const [to, value] of named) result[to] = value;
  return result;
}

/** A pair for the object that a member holds. */
export function inside(member: string, pair: Pair): Pair {
  const through = (step: Step): Step => {
    return (object, context) => {
      const part = object[member];
      return isJsonObject(part) ? { ...object, [member]: step(part, context) } : object;
    };
  };
  return { up: through(pair.up), down: through(pair.down) };
}

/** A pair for every object of the list that a member holds. */
export function eachOf(member: string, pair: Pair): Pair {
  const through = (step: Step): Step => {
    return (object, context) => {
      const list = object[member];
      if (!Array.isArray(list)) return object;
      return { ...object, [member]: list.map((item: unknown) => (isJsonObject(item) ? step(item, context) : item)) };
    };
  };
  return { up: through(pair.up), down: through(pair.down) };
}

/** Several pairs, the first of them farthest from the hub. */
export function chained(...pairs: readonly Pair[]): Pair {
  return {
    up: (object, context) => pairs.reduce((made, { up }) => up(made, context), object),
    down: (object, context) => pairs.reduceRight((made, { down }) => down(made, context), object),
  };
}
