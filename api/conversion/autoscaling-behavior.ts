// How an autoscaler's scaling behavior is carried in an annotation: under member names that begin with capitals, and read
// under either spelling.
import { decode } from '../codec/decode.ts';
import { DecodeError } from '../codec/decode-error.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { Schema } from '../schema/schema.ts';

/** The annotation's text; undefined for no behavior. */
export function behaviorText(behavior: unknown): string | undefined {
  if (!isJsonObject(behavior)) return undefined;
  return JSON.stringify({ ScaleUp: rulesOf(behavior.scaleUp), ScaleDown: rulesOf(behavior.scaleDown) });
}

function rulesOf(rules: unknown): object | null {
  if (!isJsonObject(rules)) return null;
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies = null } = rules;
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies: Array.isArray(policies) ? (policies as readonly JsonObject[]).map(policyOf) : null,
  };
}

function policyOf({ type, value, periodSeconds }: JsonObject): object {
  return { Type: type, Value: value, PeriodSeconds: periodSeconds };
}

/** The behavior in an annotation's text; undefined for anything else. */
export function readBehavior(text: string | undefined, schema: Schema): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = uncapitalized(JSON.parse(text), LEVELS);
    return isJsonObject(value) ? decode(value, schema.type(BEHAVIOR_TYPE)).object : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DecodeError) return undefined;
    throw error;
  }
}

const BEHAVIOR_TYPE = 'autoscaling/v2beta2.HorizontalPodAutoscalerBehavior';
/** Behavior, rules, the list of policies, policy. */
const LEVELS = 4;

function uncapitalized(value: unknown, levelsLeft: number): unknown {
  if (levelsLeft === 0) return value;
  if (Array.isArray(value)) return (value as readonly unknown[]).map((item) => uncapitalized(item, levelsLeft - 1));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) =>
      [name.slice(0, 1).toLowerCase() + name.slice(1), uncapitalized(member, levelsLeft - 1)] as const,
  );
  return Object.fromEntries(entries);
}
