// A refusal whose client is to hear warnings as well: webhooks may give both, and who warns need not be who refuses.
import { isStatusError, type Status, StatusError } from '../../api/status/status.ts';
import type { Attributes } from './attributes.ts';

export class WarnedRefusal extends StatusError {
  readonly warnings: readonly string[];

  constructor(status: Status, warnings: readonly string[]) {
    super(status);
    this.warnings = warnings;
  }
}

/** A refusal together with what the client's user was to be warned of. */
export function withItsWarnings(error: unknown, { warnings }: Attributes): unknown {
  return isStatusError(error) && warnings.length > 0 ? new WarnedRefusal(error.status, warnings) : error;
}
