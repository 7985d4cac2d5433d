// JSON for people: two blanks of indentation and no closing newline, as Kubernetes sends it to curl and browsers.

export function prettyJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
