// Daemon sets: how often their template has changed is kept in an annotation, from before that was a count of its own
// (`metadata.generation` counts every change). Clients neither set it back nor lose it.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asObject } from '../../json/object-fields.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { badRequest } from '../../status/failures.ts';
import { StatusError } from '../../status/status.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** Throws 400 for an annotation that is no number. */
function templateGenerationOf(object: JsonObject): number {
  const text = metadataOf(object).annotations?.[TEMPLATE_GENERATION];
  if (text === undefined) return 0;
  const generation = Number(text);
  if (/^[+-]?[0-9]{1,18}$/.test(text) && Number.isSafeInteger(generation)) return generation;
  throw new StatusError(badRequest(`annotation ${TEMPLATE_GENERATION} must be a number, not ${JSON.stringify(text)}`));
}

function withTemplateGeneration(object: JsonObject, generation: number): JsonObject {
  const metadata = metadataOf(object);
  const text = String(generation);
  if (metadata.annotations?.[TEMPLATE_GENERATION] === text) return object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [TEMPLATE_GENERATION]: text } },
  };
}

/** Whoever creates a daemon set owns the annotation, as if they had written it. */
function meant(object: JsonObject, { old }: WriteFacts): JsonObject {
  const given = templateGenerationOf(object);
  return old === undefined ? withTemplateGeneration(object, Math.max(given, 1)) : object;
}

function updated(object: JsonObject, old: JsonObject, { subresource }: WriteFacts): JsonObject {
  const isChanged = subresource !== 'status' && !deepEqual(asObject(object.spec).template, asObject(old.spec).template);
  return withTemplateGeneration(object, Math.max(templateGenerationOf(old), 1) + (isChanged ? 1 : 0));
}

export const daemonSet: Strategy = { meant, onUpdate: updated };
