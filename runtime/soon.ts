// What is there already, or will be: code that need not wait goes on in the same turn, without a promise or an async function's
// frame for each step.

export type Soon<T> = T | Promise<T>;

/** Goes on with a value in this turn where it is there, else when it is. Throws, or rejects with, what `next` throws. */
export function whenThere<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
