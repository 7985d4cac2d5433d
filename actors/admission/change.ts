// What a request changes of an object: the whole of it, its status, or what another kind shows of it.
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { type SubresourceView, viewOf } from '../../api/subresource-views.ts';
import type { Tracking } from './ownership.ts';
import type { WriteRequest } from './protocol.ts';
import { type ExpectedKind, kindOf } from './request-body.ts';

/** One way of changing an object: from the stored one to the wanted one. */
export interface Change {
  /** Of the body, and of what a patch is applied to. */
  readonly expected: ExpectedKind;
  /** What the client sees and sends: the object itself, or another kind's view of it. */
  readonly view: (stored: JsonObject) => JsonObject;
  /** The whole object that a view, changed by the client, stands for. */
  readonly merge: (view: JsonObject, stored: JsonObject) => JsonObject;
  readonly subresource: string;
  /** Set where the client sees another kind than the object's own. */
  readonly otherKind: SubresourceView | undefined;
  /** Who owns what it changes; undefined where what is wanted says so itself. */
  readonly tracking: Tracking | undefined;
}

/** The change a request asks for. */
export function changeFor(request: WriteRequest, type: KnownType, tracking: Tracking | undefined): Change {
  const { subresource } = request.target;
  const otherKind = viewOf(subresource);
  if (otherKind !== undefined) {
    return {
      expected: otherKind,
      view: otherKind.of,
      merge: (view, stored) => otherKind.applied(stored, view, type),
      subresource,
      otherKind,
      tracking,
    };
  }
  const whole = { expected: kindOf(type), view: (stored: JsonObject) => stored, subresource, otherKind, tracking };
  if (type.storageKey === 'core/namespaces') {
    return { ...whole, merge: subresource === 'finalize' ? withSpecFinalizers : withStoredFinalizers };
  }
  return { ...whole, merge: (view) => view };
}

/** The finalize subresource changes spec.finalizers and nothing else. */
function withSpecFinalizers(view: JsonObject, stored: JsonObject): JsonObject {
  const { finalizers = [] } = (view.spec ?? {}) as { finalizers?: unknown[] };
  const spec = { ...(stored.spec as JsonObject | undefined), finalizers };
  const metadata = { ...metadataOf(stored), resourceVersion: versionOf(view) };
  return { ...stored, metadata, spec };
}

/** Every other update of a namespace keeps spec.finalizers. */
function withStoredFinalizers(view: JsonObject, stored: JsonObject): JsonObject {
  const kept = (stored.spec as { finalizers?: unknown[] } | undefined)?.finalizers;
  const spec = { ...(view.spec as JsonObject | undefined) };
  if (kept === undefined) delete spec.finalizers;
  else spec.finalizers = kept;
  return { ...view, spec };
}

/** The resourceVersion an object names; empty for none. */
export function versionOf(object: JsonObject): string {
  return metadataOf(object).resourceVersion ?? '';
}
