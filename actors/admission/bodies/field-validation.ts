// `fieldValidation`: what a client hears of fields that its body names in vain, because the type has none of that name or
// because they come again. Strict refuses the write, Warn names them, Ignore (the default) says nothing.
import { badRequest } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { repeatedFields } from '../../../transport/body.ts';
import type { WriteParameters, WriteReply, WriteRequest } from '../protocol.ts';

const NO_WARNINGS: readonly string[] = [];

/** Fields to be told of, at most this many: each is a header of the answer. */
const TOLD_MAX = 100;

/** Bodies that can repeat a field: Protobuf has no names. */
const TEXT_TYPE = /^$|[/+](?:json|yaml)$/;

/** Whether a client wants to hear of them. */
export function asksForFields({ fieldValidation }: WriteParameters): boolean {
  return fieldValidation === 'Strict' || fieldValidation === 'Warn';
}

/**
 * The warnings for a body's fields. `unknownFields` answers their paths; it is asked only where the client wants to know.
 * Throws 400 where the client asks for strict reading.
 */
export function fieldWarnings(
  { parameters, payload, contentType }: WriteRequest,
  unknownFields: () => readonly string[],
): readonly string[] {
  if (!asksForFields(parameters)) return NO_WARNINGS;
  const repeated = TEXT_TYPE.test(contentType) ? repeatedFields(payload) : [];
  const warnings = [
    ...unknownFields().map((path) => `unknown field ${JSON.stringify(path)}`),
    ...repeated.map((path) => `duplicate field ${JSON.stringify(path)}`),
  ].slice(0, TOLD_MAX);
  if (warnings.length > 0 && parameters.fieldValidation === 'Strict') {
    throw new StatusError(badRequest(`strict decoding error: ${warnings.join(', ')}`));
  }
  return warnings;
}

/** A reply with more warnings for the client's user. */
export function withWarnings(reply: WriteReply, warnings: readonly string[]): WriteReply {
  return warnings.length === 0 ? reply : { ...reply, warnings: [...(reply.warnings ?? []), ...warnings] };
}
