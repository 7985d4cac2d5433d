// Autoscalers: an older version says in annotations what it has no fields for. Some of that is spec and some is status, and as
// little as of the fields themselves can who writes the one change the other.
import type { Dialect } from '../../../config/dialect.ts';
import {
  BEHAVIOR,
  CONDITIONS,
  CURRENT_METRICS,
  EXACT,
  type Exact,
  exactIn,
  METRICS,
} from '../../codec/carried-metrics.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';

/** Annotations that stand for the same part of an object. */
interface Part {
  readonly names: readonly string[];
  /** What of the exact metrics does. */
  readonly half: keyof Exact;
}

const OF_SPEC: Part = { names: [METRICS, BEHAVIOR], half: 'metrics' };
const OF_STATUS: Part = { names: [CURRENT_METRICS, CONDITIONS], half: 'current' };

/** The object with a part as another has it; without it where there is none. */
function withPart(
  object: JsonObject,
  { names, half }: Part,
  from: JsonObject | undefined,
  dialect: Dialect,
): JsonObject {
  const metadata = metadataOf(object);
  const given = metadata.annotations ?? {};
  const kept = (from === undefined ? undefined : metadataOf(from).annotations) ?? {};
  const annotations = { ...given };
  const set = (key: string, text: string | undefined): void => {
    if (text === undefined) delete annotations[key];
    else annotations[key] = text;
  };
  for (const name of names) set(dialect.spell(name), kept[dialect.spell(name)]);
  const exact = dialect.spell(EXACT);
  set(exact, exactText(given[exact], kept[exact], half));
  return deepEqual(annotations, given) ? object : { ...object, metadata: { ...metadata, annotations } };
}

function exactText(given: string | undefined, kept: string | undefined, half: keyof Exact): string | undefined {
  if (given === kept) return given;
  const { [half]: _, ...others } = exactIn(given);
  const { [half]: list } = exactIn(kept);
  const { metrics, current }: Exact = { ...others, ...(list === undefined ? {} : { [half]: list }) };
  return metrics === undefined && current === undefined ? undefined : JSON.stringify({ metrics, current });
}

/** A new one has no status yet. */
function begun(object: JsonObject, { old, dialect }: WriteFacts): JsonObject {
  return old === undefined ? withPart(object, OF_STATUS, undefined, dialect) : object;
}

function updated(object: JsonObject, old: JsonObject, { subresource, dialect }: WriteFacts): JsonObject {
  return withPart(object, subresource === 'status' ? OF_SPEC : OF_STATUS, old, dialect);
}

export const horizontalPodAutoscaler: Strategy = { meant: begun, onUpdate: updated };
