// The ephemeralcontainers subresource of pods: the containers that are added to a running pod, as a core/v1
// EphemeralContainers of their own. Nothing else changes them.

import type { JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';
import { metadataOf } from '../metadata/object-meta.ts';

/** The metadata of the pod that the view shows. */
const SHOWN = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'];

/** The ephemeral containers of a stored pod. */
export function ephemeralContainersOf(pod: JsonObject): JsonObject {
  const before: Readonly<Record<string, unknown>> = { ...metadataOf(pod) };
  const metadata = Object.fromEntries(SHOWN.filter((name) => name in before).map((name) => [name, before[name]]));
  const list = asObject(pod.spec).ephemeralContainers;
  return {
    kind: 'EphemeralContainers',
    apiVersion: 'v1',
    metadata,
    ephemeralContainers: Array.isArray(list) ? list : [],
  };
}

/** The pod with the ephemeral containers that a view asks for; uid and resourceVersion are as the client means them. */
export function withEphemeralContainers(pod: JsonObject, view: JsonObject): JsonObject {
  const { uid, resourceVersion } = metadataOf(view);
  const before = metadataOf(pod);
  const metadata = { ...before, uid: uid || before.uid, resourceVersion: resourceVersion ?? '' };
  const { ephemeralContainers: _, ...spec } = asObject(pod.spec);
  const list = Array.isArray(view.ephemeralContainers) ? (view.ephemeralContainers as readonly unknown[]) : [];
  return { ...pod, metadata, spec: list.length === 0 ? spec : { ...spec, ephemeralContainers: list } };
}
