// The attributes of the write that a request asks for.

import { isLarge } from '../../../api/in-parts.ts';
import type { DeleteOptions } from '../../../api/requests/request-options.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { viewOf } from '../../../api/subresource-views.ts';
import { objectKey } from '../../../storage/object-key.ts';
import type { Guard } from '../../store/protocol.ts';
import { Attributes, type Operation } from '../attributes.ts';
import { AuditAnnotations } from '../audit-annotations.ts';
import { NO_GUARDS } from '../commits/draft.ts';
import { NO_PLUGINS } from '../plugins/chain.ts';
import type { WriteRequest } from '../protocol.ts';
import type { WriteContext } from '../write-context.ts';

/** What of a write the request alone does not say. */
export interface Manner {
  readonly operation: Operation;
  readonly dryRun: boolean;
  /** Absent: that of the path. A PUT to a missing object, for one, creates the object itself. */
  readonly subresource?: string;
  /** Absent: true. */
  readonly isTracked?: boolean;
  /** Absent: false. */
  readonly isPatch?: boolean;
  readonly emptied?: readonly string[] | undefined;
  readonly deletion?: DeleteOptions;
}

/** What a request is about, for its steps and plugins. Its objects are those of each try (`Attributes.begin`). */
export function attributesOf(
  write: WriteContext,
  {
    target,
    user,
    userAgent,
    parameters,
    payload,
    isInside,
  }: Pick<WriteRequest, 'target' | 'user' | 'userAgent' | 'parameters'> &
    Partial<Pick<WriteRequest, 'payload' | 'isInside'>>,
  type: KnownType,
  { operation, dryRun, subresource = target.subresource, isTracked = true, isPatch = false, emptied, deletion }: Manner,
): Attributes {
  const { namespace, name } = target;
  const auditAnnotations = new AuditAnnotations();
  write.auditAnnotations.push(auditAnnotations);
  const attributes = new Attributes(
    {
      operation,
      kind: write.kinds.of(type),
      subresource,
      namespace,
      name,
      user,
      isInside: isInside === true,
      userAgent,
      parameters,
      reader: write,
      auditAnnotations,
      deletion,
      dryRun,
      isTracked,
      isPatch,
      emptied,
      plugins: target.asStored ? NO_PLUGINS : write.plugins.phases(type, subresource, operation),
      view: subresource === '' ? undefined : viewOf(subresource, type),
    },
    write.dialect,
    guardsOf(write, type),
  );
  attributes.isLarge = type.custom?.isLarge === true || (payload !== undefined && isLarge(payload.length));
  return attributes;
}

/** A custom object is written under the definition that it was looked at by, or not at all. */
function guardsOf({ definitionsKey }: WriteContext, { custom }: KnownType): readonly Guard[] {
  if (custom === undefined) return NO_GUARDS;
  const { name, revision } = custom.definition;
  return [{ key: objectKey(definitionsKey, '', name), expect: revision }];
}
