// Percent encoding, as addresses have it (RFC 3986 2.1).

/** Decodes percent-encoded UTF-8; undefined when it is malformed. */
export function decodePercent(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
