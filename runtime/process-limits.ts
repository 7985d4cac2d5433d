// The limits that the operating system sets this process.

/** Where it tells of them; a system without this file is not asked. */
export const LIMITS_FILE = '/proc/self/limits';

/** A soft limit, by its name in that file; undefined: it is not there. */
export function limitOf(limits: string, name: string): number | undefined {
  const found = new RegExp(`^${name}\\s+(unlimited|\\d+)`, 'm').exec(limits)?.[1];
  if (found === undefined) return undefined;
  return found === 'unlimited' ? Number(2n ** 64n - 1n) : Number(found);
}
