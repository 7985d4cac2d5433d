// A pod that is asked about and never made: what of a manifest is sent to be admitted in a dry run. Pure.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { asObject, asText } from '../json/object-fields.ts';

export interface SimulatedPod {
  readonly namespace: string;
  readonly manifest: JsonObject;
}

/** One of its name that there is already is no obstacle: the name becomes the beginning of one. Undefined: it is no pod. */
export function simulatedPod(manifest: unknown): SimulatedPod | undefined {
  if (!isJsonObject(manifest) || (manifest.kind !== undefined && manifest.kind !== 'Pod')) return undefined;
  const { name, ...unnamed } = asObject(manifest.metadata);
  const namespace = asText(unnamed.namespace) || 'default';
  const generateName = asText(name) === '' ? asText(unnamed.generateName) || 'simulated-' : `${asText(name)}-`;
  return { namespace, manifest: { ...manifest, metadata: { ...unnamed, namespace, generateName } } };
}
