// The profiles of seccomp and AppArmor that pods run under, and which of them a policy allows. Pods say them in annotations;
// those of seccomp are fields as well. Pure.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { isJsonObject } from '../../../../api/json/json-value.ts';
import { partAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { annotationOf, containerSeccompPrefix, podSeccompKey } from '../../../../api/pods/seccomp.ts';
import { quote } from '../../../../api/status/failures.ts';
import { type FieldError, forbidden } from '../../../../api/status/field-error.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import type { Profiles } from './policy.ts';

const ANY = '*';
/** Two names of one profile: the second is older. */
const RUNTIME_DEFAULT: readonly string[] = ['runtime/default', 'docker/default'];
const ANNOTATIONS = 'pod.metadata.annotations';

export function appArmorKey({ labelDomain }: Dialect, container: string): string {
  return `container.apparmor.security.beta.${labelDomain}/${container}`;
}

function annotationAt(pod: JsonObject, key: string): string | undefined {
  return metadataOf(pod).annotations?.[key];
}

/** What the field says, as an annotation would; undefined where there is none. */
function fieldProfile(of: JsonObject): string | undefined {
  const { seccompProfile } = partAt(of, 'securityContext');
  return isJsonObject(seccompProfile) ? (annotationOf(seccompProfile) ?? '') : undefined;
}

/** The seccomp profile of the whole pod; blank where it says none. */
export function podProfile(pod: JsonObject, dialect: Dialect): string {
  return annotationAt(pod, podSeccompKey(dialect)) || (fieldProfile(partAt(pod, 'spec')) ?? '');
}

export function podSeccompProblems(pod: JsonObject, profiles: Profiles, dialect: Dialect): readonly FieldError[] {
  return seccompProblems(`${ANNOTATIONS}[${podSeccompKey(dialect)}]`, podProfile(pod, dialect), profiles);
}

export function containerSeccompProblems(
  pod: JsonObject,
  container: JsonObject,
  profiles: Profiles,
  dialect: Dialect,
): readonly FieldError[] {
  const key = containerSeccompPrefix(dialect) + textAt(container, 'name');
  const profile =
    fieldProfile(container) ??
    annotationAt(pod, key) ??
    fieldProfile(partAt(pod, 'spec')) ??
    annotationAt(pod, podSeccompKey(dialect)) ??
    '';
  return seccompProblems(`${ANNOTATIONS}[${key}]`, profile, profiles);
}

function seccompProblems(path: string, profile: string, { allowed = [], said }: Profiles): readonly FieldError[] {
  if (allowed.includes(ANY)) return [];
  if (allowed.length === 0) return profile === '' ? [] : [forbidden(path, 'seccomp may not be set')];
  const isRuntimeDefault = RUNTIME_DEFAULT.includes(profile);
  if (allowed.some((one) => one === profile || (isRuntimeDefault && RUNTIME_DEFAULT.includes(one)))) return [];
  return [forbidden(path, `${profile} is not an allowed seccomp profile. Valid values are ${said}`)];
}

export function appArmorProblems(
  pod: JsonObject,
  container: JsonObject,
  { allowed, said }: Profiles,
  dialect: Dialect,
): readonly FieldError[] {
  if (allowed === undefined) return [];
  const key = appArmorKey(dialect, textAt(container, 'name'));
  const profile = annotationAt(pod, key) ?? '';
  const path = `${ANNOTATIONS}[${key}]`;
  if (profile === '') return [forbidden(path, 'AppArmor profile must be set')];
  if (allowed.includes(profile)) return [];
  return [forbidden(path, `${profile} is not an allowed profile. Allowed values: ${quote(said)}`)];
}
