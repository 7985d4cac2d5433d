// Parsed JSON that several are given, and nobody may change.

/** Freezes a value and all that it holds. */
export function freezeJson(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freezeJson(member);
}
