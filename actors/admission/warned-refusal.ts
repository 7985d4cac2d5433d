// A refusal whose client is to hear warnings as well: webhooks may give both.
import { type Status, StatusError } from '../../api/status/status.ts';

export class WarnedRefusal extends StatusError {
  readonly warnings: readonly string[];

  constructor(status: Status, warnings: readonly string[]) {
    super(status);
    this.warnings = warnings;
  }
}
