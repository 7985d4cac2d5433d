// Profiles of seccomp and AppArmor as annotations name them: of pods, and of the policies that say which pods may use.
import { relativePathProblems } from '../field-formats.ts';

const NO_PROBLEMS: readonly string[] = Object.freeze([]);
const LOCALHOST = 'localhost/';
const SECCOMP_PROFILES: ReadonlySet<string> = new Set(['runtime/default', 'docker/default', 'unconfined']);
const APP_ARMOR_PROFILES: ReadonlySet<string> = new Set(['', 'runtime/default', 'unconfined']);

/** What is wrong with a text as the name of a seccomp profile. */
export function seccompProblems(profile: string): readonly string[] {
  if (SECCOMP_PROFILES.has(profile)) return NO_PROBLEMS;
  return profile.startsWith(LOCALHOST)
    ? relativePathProblems(profile.slice(LOCALHOST.length))
    : ['must be a valid seccomp profile'];
}

/** What is wrong with a text as the name of an AppArmor profile. */
export function appArmorProblems(profile: string): readonly string[] {
  return APP_ARMOR_PROFILES.has(profile) || profile.startsWith(LOCALHOST)
    ? NO_PROBLEMS
    : [`invalid AppArmor profile name: ${JSON.stringify(profile)}`];
}
