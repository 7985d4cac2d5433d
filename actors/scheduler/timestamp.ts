// Times as API objects write them.

/** Milliseconds since 1970 as RFC 3339 in UTC, with whole seconds. */
export function timestamp(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
