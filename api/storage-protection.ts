// The finalizers that keep claims and volumes while they are used.
import type { Dialect } from '../config/dialect.ts';

/** By what they are on. */
export function protectionFinalizers(dialect: Dialect): { readonly ofClaims: string; readonly ofVolumes: string } {
  return { ofClaims: dialect.spell('@label/pvc-protection'), ofVolumes: dialect.spell('@label/pv-protection') };
}
