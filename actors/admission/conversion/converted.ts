// Work of the write path that needs objects in other versions. It is done in one go; where a definition's webhook has to be asked
// first, it is given up, the webhook asked, and the work done again with the answer.
import type { StoredForm } from '../../../api/catalog/stored-form.ts';
import { ConversionDue, KnownConversions } from '../../../api/custom/definitions/conversion-due.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { unnamedError } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { WebhookConversion } from './webhook-conversion.ts';

export interface ConversionParts {
  readonly forms: StoredForm;
  readonly conversion: WebhookConversion;
}

/** Managers of fields write in few versions; each of theirs takes two conversions or three. */
const ROUNDS_MAX = 64;

/**
 * What the work answers, at once for all types that no webhook converts.
 *
 * @param work must change nothing, and answer the same each time but for what is known by then. It may take turns.
 */
export function converted<T>(
  { forms, conversion }: ConversionParts,
  { custom }: KnownType,
  work: (forms: StoredForm) => T | Promise<T>,
): T | Promise<T> {
  return custom?.definition.webhook === undefined ? work(forms) : inRounds(forms, conversion, work);
}

async function inRounds<T>(
  forms: StoredForm,
  conversion: WebhookConversion,
  work: (forms: StoredForm) => T | Promise<T>,
): Promise<T> {
  const known = new KnownConversions();
  const knowing = forms.knowing(known);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    try {
      return await work(knowing);
    } catch (error) {
      if (!(error instanceof ConversionDue)) throw error;
      const [answer] = await conversion.ask(error.custom, [error.object]);
      known.add(error, answer!);
    }
  }
  throw new StatusError(unnamedError('the object has fields of managers in too many versions'));
}

/** An object as it would be read if it were stored. */
export function asReadBack(
  parts: ConversionParts,
  type: KnownType,
  object: JsonObject,
): JsonObject | Promise<JsonObject> {
  return converted(parts, type, (forms) => forms.asked(type, forms.stored(type, object)));
}
