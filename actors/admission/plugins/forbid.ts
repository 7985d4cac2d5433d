// Refusals of admission plugins: 403 that names the object as the original does, also where it has no name yet.
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { forbidden } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Attributes } from '../attributes.ts';

/** The error that refuses a write, to be thrown. `detail` follows on `pods "x" is forbidden: `. */
export function forbid(attributes: Attributes, detail: string): StatusError {
  return new StatusError(forbidden(attributes.type, nameIn(attributes), detail));
}

/** What messages call an object: without a name, what one is to be generated from. */
export function nameIn({ asked, object }: Attributes): string {
  if (asked.name !== '') return asked.name;
  const { name, generateName } = metadataOf(object);
  return name || generateName || 'Unknown';
}

/** As `forbid`, of an object that is called by its name alone, which it may not have yet. */
export function forbidNamed({ type, object }: Attributes, detail: string): StatusError {
  return new StatusError(forbidden(type, metadataOf(object).name ?? '', detail));
}
