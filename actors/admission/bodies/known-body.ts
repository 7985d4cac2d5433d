// Which bodies may have a spec that is known (known-specs.ts), and how one comes to be known: decoded and made complete as a pod
// that is created is. Creates and PUTs ask.

import { isLarge } from '../../../api/in-parts.ts';
import { canonicalOf } from '../completion.ts';
import type { KindVersion } from '../kind-version.ts';
import type { KnownBody } from '../known-specs.ts';
import type { WriteRequest } from '../protocol.ts';
import type { WriteContext } from '../write-context.ts';
import { asksForFields } from './field-validation.ts';
import { decodeObject, JSON_TYPES, kindOf } from './request-body.ts';

const PODS = 'core/pods';

/** What is known of the body's spec, of a request for a whole object; undefined where the body has to be decoded. */
export function knownBodyOf(write: WriteContext, request: WriteRequest, kind: KindVersion): KnownBody | undefined {
  const { parameters, contentType, payload } = request;
  const { type } = kind;
  if (type.storageKey !== PODS || !JSON_TYPES.has(contentType) || isLarge(payload.length)) return undefined;
  if (asksForFields(parameters)) return undefined;
  return write.knownSpecs.find(payload, kind.owned, () => {
    const { object, emptied } = decodeObject(write.schema, request, kindOf(type));
    const complete = write.completion.completedApart(object, kind, write.dialect);
    return { object: complete && canonicalOf(complete, kind), emptied };
  });
}
