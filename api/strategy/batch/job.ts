// Jobs: a new one selects its pods by its own uid, so that nobody else's match, and has their labels, all of them, where it says none.
import type { JsonObject } from '../../json/json-value.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { Strategy } from '../strategy.ts';

interface JobFields {
  readonly manualSelector?: boolean | null;
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } | null;
  readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
}

/** A job's pods carry its uid and name, and its selector asks for the uid. */
function withSelector(object: JsonObject): JsonObject {
  const spec = (object.spec ?? {}) as JobFields;
  if (spec.manualSelector === true) return object;
  const { uid = '', name = '', labels: own } = metadataOf(object);
  const { selector = {}, template = {} } = spec;
  const matchLabels = { 'controller-uid': uid, ...selector?.matchLabels };
  const labels = { 'controller-uid': uid, 'job-name': name, ...template.metadata?.labels };
  const isBare = own === undefined || own === template.metadata?.labels || Object.keys(own).length === 0;
  return {
    ...object,
    ...(isBare ? { metadata: { ...metadataOf(object), labels } } : undefined),
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

export const job: Strategy = { onCreate: withSelector };
