// What the containers of a pod are called, which annotations and ephemeral containers say: there may be thousands of these, and many times
// as many containers, whose names are gathered once for all of them.
import type { PodSpec } from './pod-spec.ts';

const known = new WeakMap<PodSpec, ReadonlySet<string | undefined>>();

/** Of its containers and its initial ones. The spec must not change afterwards. */
export function containerNamesOf(spec: PodSpec): ReadonlySet<string | undefined> {
  let names = known.get(spec);
  if (names === undefined) {
    names = new Set([...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => name));
    known.set(spec, names);
  }
  return names;
}
