// Which taints a pod puts up with. Pure.

/** What of a taint tolerations look at. */
export interface TaintLike {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** What of a toleration says which taints it covers. */
export interface TolerationLike extends TaintLike {
  readonly operator: string;
}

/** The first toleration that covers the taint. An operator other than Exists and Equal tolerates nothing. */
export function tolerationOf<T extends TolerationLike>(tolerations: readonly T[], taint: TaintLike): T | undefined {
  for (const toleration of tolerations) {
    const { effect, key, operator, value } = toleration;
    if (effect !== '' && effect !== taint.effect) continue;
    if (key !== '' && key !== taint.key) continue;
    if (operator === 'Exists') return toleration;
    if ((operator === '' || operator === 'Equal') && value === taint.value) return toleration;
  }
  return undefined;
}
