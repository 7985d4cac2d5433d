// The order of texts by their code units.

/** For `sort`: negative, zero or positive as `left` stands before, at or behind `right`. */
export function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
