// Secrets: stringData is for writing only.
import type { JsonObject } from '../../json/json-value.ts';
import type { Strategy } from '../strategy.ts';

/** stringData ends up in data. */
export function withData(object: JsonObject): JsonObject {
  const { stringData, ...rest } = object;
  if (stringData === undefined) return object;
  const data: Record<string, string> = { ...(object.data as Record<string, string> | undefined) };
  for (const [key, text] of Object.entries(stringData as Record<string, string>))
    data[key] = Buffer.from(text).toString('base64');
  return { ...rest, data };
}

export const secret: Strategy = { meant: withData };
