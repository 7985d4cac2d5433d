// Bytes looked for where they would be.

/** Whether some bytes stand at a place. For a few of them: a loop costs less than a view, or a call of Buffer's. */
export function holdsAt(source: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (source[at + i] !== wanted[i]) return false;
  return true;
}
