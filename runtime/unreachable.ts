// The end of a switch that has a case for everything there is. The compiler refuses the call while a case is missing; at
// run time only a message from outside the protocol can get here.

/**
 * What follows the last case of a switch over messages, or over the members of any closed union.
 *
 * @param value the one that no case took: `never`, unless a case is missing.
 * @throws Error, which names the value's `type` and nothing of its content: an ask fails with `Refused`.
 */
export function unreachable(value: never): never {
  const { type } = (typeof value === 'object' && value !== null ? value : { type: value }) as {
    readonly type?: unknown;
  };
  throw new Error(`there is no case for ${typeof type === 'string' ? JSON.stringify(type) : typeof value}`);
}
