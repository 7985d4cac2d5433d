// What configuration files call themselves: the dialect's own names first, and those of the other, since there are many
// files about.
import { DIALECT_NAMES, DIALECTS, type Dialect } from '../../../config/dialect.ts';

function ownFirst(dialect: Dialect): readonly Dialect[] {
  return [dialect, ...DIALECT_NAMES.map((name) => DIALECTS[name]).filter(({ name }) => name !== dialect.name)];
}

/** The `apiVersion`s a file can have. */
export function configurationVersions(dialect: Dialect): readonly string[] {
  return ownFirst(dialect).map((each) => each.spell('@{short}scheduler.config.@group/v1beta1'));
}

/** The `apiVersion`s a legacy policy can have. */
export function policyVersions(dialect: Dialect): readonly string[] {
  return ['v1', ...ownFirst(dialect).map((each) => each.spell('@{short}scheduler.config.@group/v1'))];
}

/** The `kind`s a file can have. */
export function configurationKinds(dialect: Dialect): readonly string[] {
  return ownFirst(dialect).map(({ short }) => `${short[0]!.toUpperCase()}${short.slice(1)}SchedulerConfiguration`);
}
