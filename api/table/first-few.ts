// Long lists in a cell: the first few, and how many more there are.

/** The first `shown` texts joined, then ` + <n> more...` for the rest. */
export function firstFew(texts: readonly string[], shown: number, separator = ','): string {
  if (texts.length <= shown) return texts.join(separator);
  return `${texts.slice(0, shown).join(separator)} + ${texts.length - shown} more...`;
}
