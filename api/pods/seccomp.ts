// Seccomp profiles: pods said them in annotations before there was a field. A new pod has both, so that nodes of either age
// find one; where both are given they must agree. Pure.
import type { Dialect } from '../../config/dialect.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { metadataOf } from '../metadata/object-meta.ts';

export interface SeccompProfile {
  readonly type?: string;
  readonly localhostProfile?: string;
}

const LOCALHOST = 'localhost/';

/** The annotation's key for the whole pod. */
export function podSeccompKey({ labelDomain }: Dialect): string {
  return `seccomp.security.alpha.${labelDomain}/pod`;
}

/** What the annotation's key for a container begins with; its name follows. */
export function containerSeccompPrefix({ labelDomain }: Dialect): string {
  return `container.seccomp.security.alpha.${labelDomain}/`;
}

/** What an annotation says where the field says a profile; undefined where annotations cannot say it. */
export function annotationOf({ type, localhostProfile }: SeccompProfile): string | undefined {
  if (type === 'Unconfined') return 'unconfined';
  if (type === 'RuntimeDefault') return 'runtime/default';
  return type === 'Localhost' && localhostProfile !== undefined ? LOCALHOST + localhostProfile : undefined;
}

/** What the field says where an annotation says a text; undefined where that is no profile. */
function profileOf(annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default' || annotation === 'docker/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith(LOCALHOST) || annotation === LOCALHOST) return undefined;
  return { type: 'Localhost', localhostProfile: annotation.slice(LOCALHOST.length) };
}

/** Where an annotation and a field differ, below the field; undefined where they agree. */
export function seccompDifference(
  annotation: string,
  profile: SeccompProfile,
): 'type' | 'localhostProfile' | undefined {
  const { type, localhostProfile } = profile;
  if (type === 'Localhost') {
    if (!annotation.startsWith(LOCALHOST)) return 'type';
    return annotation.slice(LOCALHOST.length) === localhostProfile ? undefined : 'localhostProfile';
  }
  const said = annotation === 'docker/default' ? 'runtime/default' : annotation;
  return annotationOf(profile) === undefined || said === annotationOf(profile) ? undefined : 'type';
}

/** The lists of containers that can have profiles of their own. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

interface Secured extends JsonObject {
  readonly name?: string;
  readonly securityContext?: JsonObject & { readonly seccompProfile?: SeccompProfile };
}

interface SecuredSpec
  extends Secured,
    Readonly<Partial<Record<(typeof CONTAINER_LISTS)[number], readonly Secured[]>>> {}

/** False for nearly all pods. */
function saysSeccomp(spec: SecuredSpec, annotations: Readonly<Record<string, string>> | undefined): boolean {
  for (const key in annotations) if (key.includes('seccomp')) return true;
  if (spec.securityContext?.seccompProfile) return true;
  for (const list of CONTAINER_LISTS) {
    for (const { securityContext } of spec[list] ?? []) if (securityContext?.seccompProfile) return true;
  }
  return false;
}

/** A pod whose seccomp annotations and fields say the same; itself where neither says anything, or both do. */
export function withSeccompInStep(pod: JsonObject, dialect: Dialect): JsonObject {
  const { spec } = pod as { spec?: SecuredSpec };
  if (!isJsonObject(spec) || !saysSeccomp(spec, metadataOf(pod).annotations)) return pod;
  const before = metadataOf(pod).annotations ?? {};
  const added: Record<string, string> = {};
  const inStep = <T extends Secured>(secured: T, key: string): T => {
    const field = secured.securityContext?.seccompProfile ?? undefined;
    const annotation = before[key];
    if ((field === undefined) === (annotation === undefined)) return secured;
    if (field !== undefined) {
      const said = annotationOf(field);
      if (said !== undefined) added[key] = said;
      return secured;
    }
    const seccompProfile = profileOf(annotation!);
    return seccompProfile === undefined
      ? secured
      : { ...secured, securityContext: { ...secured.securityContext, seccompProfile } };
  };
  let next = inStep(spec, podSeccompKey(dialect));
  const prefix = containerSeccompPrefix(dialect);
  for (const list of CONTAINER_LISTS) {
    const containers = spec[list];
    // Null of a pod that has none.
    if (!containers) continue;
    const changed = containers.map((container) => inStep(container, prefix + (container.name ?? '')));
    if (changed.some((container, index) => container !== containers[index])) next = { ...next, [list]: changed };
  }
  const annotations = Object.keys(added).length === 0 ? undefined : { ...before, ...added };
  if (next === spec && annotations === undefined) return pod;
  const metadata = annotations === undefined ? pod.metadata : { ...metadataOf(pod), annotations };
  return { ...pod, metadata, spec: next };
}
