// With the gate AppArmor closed, pods and what they are made from lose the annotations that name AppArmor profiles, unless the
// stored object uses them already.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';

/** Where metadata of a pod, or of a pod to be, stands in a kind. */
const POD_METADATA: Readonly<Record<string, readonly string[]>> = {
  Pod: ['metadata'],
  PodTemplate: ['template', 'metadata'],
  ReplicationController: ['spec', 'template', 'metadata'],
  ReplicaSet: ['spec', 'template', 'metadata'],
  Deployment: ['spec', 'template', 'metadata'],
  StatefulSet: ['spec', 'template', 'metadata'],
  DaemonSet: ['spec', 'template', 'metadata'],
  Job: ['spec', 'template', 'metadata'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'metadata'],
};

/** What the names of these annotations begin with. */
export const appArmorPrefix = (labelDomain: string): string => `container.apparmor.security.beta.${labelDomain}/`;

/** Takes the annotations out of `object`, which is changed. */
export function dropAppArmor(object: JsonObject, stored: JsonObject | undefined, kind: string, prefix: string): void {
  const path = Object.hasOwn(POD_METADATA, kind) ? POD_METADATA[kind] : undefined;
  if (path === undefined) return;
  const annotations = annotationsAt(object, path);
  const named = Object.keys(annotations).filter((name) => name.startsWith(prefix));
  if (named.length === 0) return;
  if (stored !== undefined && Object.keys(annotationsAt(stored, path)).some((name) => name.startsWith(prefix))) return;
  for (const name of named) delete annotations[name];
}

function annotationsAt(object: JsonObject, path: readonly string[]): Record<string, unknown> {
  let value: unknown = object;
  for (const name of [...path, 'annotations']) value = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(value) ? value : {};
}
