// Access modes of volumes, abbreviated.

const ABBREVIATIONS: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
];

/** `RWO,ROX,RWX`, each at most once and in this order; unknown modes are left out. */
export function accessModesText(modes: readonly string[]): string {
  return ABBREVIATIONS.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}
