// Few numbers put in order where they lie.

/** Sorts `numbers` from `base` up to `top`, by insertion: for ranges that are short, and mostly in order already. */
export function sortRange(numbers: number[], base: number, top: number): void {
  for (let i = base + 1; i < top; i++) {
    const number = numbers[i]!;
    let j = i - 1;
    for (; j >= base && numbers[j]! > number; j--) numbers[j + 1] = numbers[j]!;
    numbers[j + 1] = number;
  }
}
