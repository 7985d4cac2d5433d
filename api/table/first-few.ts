// Long lists in a cell: the first few, and how many more there are.

/**
 * The first `shown` texts joined, then ` + <n> more...` for the rest. `count`: how many there are, where `texts` holds no
 * more of them than are shown.
 */
export function firstFew(texts: readonly string[], shown: number, separator = ',', count = texts.length): string {
  if (count <= shown) return texts.join(separator);
  return `${texts.slice(0, shown).join(separator)} + ${count - shown} more...`;
}
