// The one error of this folder: something an operator typed cannot be used. It knows no exit codes and prints nothing;
// the command line turns it into one line.

/** A flag, value or combination of flags that cannot be used. The message is one line, ready to be shown. */
export class UsageError extends Error {
  /** What else is wrong, found in the same reading; one line each. */
  readonly others: readonly string[];

  constructor(message: string, others: readonly string[] = []) {
    super(message);
    this.name = 'UsageError';
    this.others = others;
  }
}
