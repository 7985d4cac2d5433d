// What a write is about as webhooks are told it, and whether their selectors select it. Pure but for the labels of namespaces, which
// are handed in.
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { notFound } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import { type Attributes, NO_OBJECT } from '../../attributes.ts';
import type { Hook } from '../../hooks/hook.ts';

type Labels = Readonly<Record<string, string>>;

/** The labels of a namespace; undefined: there is none of the name. */
export type LabelsOfNamespace = (namespace: string) => Labels | undefined;

const NAMESPACES = 'core/namespaces';

/** The object's name as it is told; empty of those that are deleted together: the request names none. */
export function nameTold(attributes: Attributes): string {
  const { operation, name } = attributes.asked;
  return operation === 'delete' ? name : nameOf(attributes);
}

/** The object's name; empty where it has none yet. */
function nameOf({ asked, object, old }: Attributes): string {
  return asked.name || metadataOf(object).name || (old === undefined ? '' : (metadataOf(old).name ?? ''));
}

/** A namespace is in itself. */
export function namespaceOf(attributes: Attributes): string {
  return attributes.type.storageKey === NAMESPACES ? nameOf(attributes) : attributes.asked.namespace;
}

/** True where both selectors of a webhook select the write. Throws 404 for a namespace that is not there. */
export function isSelected(hook: Hook, attributes: Attributes, labelsOfNamespace: LabelsOfNamespace): boolean {
  const { object, old } = attributes;
  if (hook.namespaces.text !== '' && !isInSelected(hook, attributes, labelsOfNamespace)) return false;
  if (hook.objects.text === '') return true;
  return hasSelected(hook, object) || (old !== undefined && hasSelected(hook, old));
}

/** What is in no namespace is not exempt. */
function isInSelected(hook: Hook, attributes: Attributes, labelsOfNamespace: LabelsOfNamespace): boolean {
  const namespace = namespaceOf(attributes);
  if (namespace === '') return true;
  const { type, subresource, object, asked } = attributes;
  const isOwn = type.storageKey === NAMESPACES && subresource === '' && ['create', 'update'].includes(asked.operation);
  // The labels it is to have, where it is a namespace that is written.
  const labels = isOwn ? (metadataOf(object).labels ?? {}) : labelsOfNamespace(namespace);
  if (labels === undefined) throw new StatusError(notFound({ group: '', plural: 'namespaces' }, namespace));
  return hook.namespaces.matches(labels);
}

/** What has no metadata, such as the options of a connection, is never selected. */
function hasSelected(hook: Hook, object: Attributes['object']): boolean {
  return object !== NO_OBJECT && object.metadata !== undefined && hook.objects.matches(metadataOf(object).labels);
}
