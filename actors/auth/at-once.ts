// Values that most often need not be waited for: who asks again and again is answered in the same turn.

/** What comes of a value that may have to be waited for. Most need not be: a promise costs more than the answer. */
export function then<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
