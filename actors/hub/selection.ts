// What a list or watch selects, compiled from its text once and shared by all that say the same.
import { compileFieldSelector, type FieldSelector } from '../../api/selectors/field-selector.ts';
import { type LabelSelector, parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { type Attributes, unpackAttributes, unpackLabels } from '../../storage/forms/attributes.ts';
import { recordAttributes } from '../../storage/records/slab-record.ts';
import type { SlabView } from '../../storage/records/thread-slabs.ts';
import type { Entry } from './caches/resource-cache.ts';
import type { Selection } from './protocol.ts';

export interface CompiledSelection {
  readonly namespace: string;
  /** undefined: selects everything in the namespace. */
  readonly matches: ((attributes: Attributes) => boolean) | undefined;
  /** The only labels that it asks of; undefined where it asks of fields, or of many. */
  readonly labelNames: readonly string[] | undefined;
  /** What this selection fixes to one value, for indexing watchers; the most telling if several. */
  readonly fixed: FixedValue | undefined;
}

/** A field, a label or, for watchers of all that is in it, the namespace; and the value it must have. */
export interface FixedValue {
  readonly of: 'field' | 'label' | 'namespace';
  readonly name: string;
  readonly value: string;
}

/** Fields worth indexing watchers by, the most telling first. */
const INDEXED_FIELDS = ['metadata.name', 'spec.nodeName'];

/** So many labels are sooner looked for than all unpacked. */
const FEW_NAMES = 8;
/** Of packed attributes: what is longer has so many labels that it matters. */
const LONG = 4096;

/** `selectableFields`: of the selected type. The texts were checked when the request was parsed. */
export function compileSelection(selection: Selection, selectableFields: readonly string[]): CompiledSelection {
  const labels: LabelSelector | undefined =
    selection.labelSelector === '' ? undefined : parseLabelSelector(selection.labelSelector);
  const fields: FieldSelector | undefined =
    selection.fieldSelector === '' ? undefined : compileFieldSelector(selection.fieldSelector, selectableFields);
  const matches =
    labels === undefined && fields === undefined
      ? undefined
      : (attributes: Attributes): boolean =>
          (fields === undefined || fields.matches(attributes.fields)) &&
          (labels === undefined || labels.matches(attributes.labels));
  const names = labels?.requirements.map(({ key }) => key) ?? [];
  const labelNames = fields === undefined && names.length <= FEW_NAMES ? names : undefined;
  return { namespace: selection.namespace, matches, labelNames, fixed: fixedBy(fields, labels) };
}

function fixedBy(fields: FieldSelector | undefined, labels: LabelSelector | undefined): FixedValue | undefined {
  for (const name of INDEXED_FIELDS) {
    const value = fields?.equality.get(name);
    if (value !== undefined && value !== '') return { of: 'field', name, value };
  }
  for (const [name, value] of labels?.equality ?? []) return { of: 'label', name, value };
  return undefined;
}

/** The labels and field values of a record. */
export function attributesOf({ slab, offset }: Entry, slabs: SlabView): Attributes {
  return unpackAttributes(recordAttributes(slabs.slab(slab), offset));
}

/** The same, or of an object that has many labels those that the selection asks of. */
export function attributesFor({ labelNames }: CompiledSelection, { slab, offset }: Entry, slabs: SlabView): Attributes {
  const packed = recordAttributes(slabs.slab(slab), offset);
  return labelNames !== undefined && packed.length > LONG ? unpackLabels(packed, labelNames) : unpackAttributes(packed);
}

/** True when the key (`<namespace>/<name>`) lies in the namespace; an empty namespace holds every key. */
export function inNamespace(key: string, namespace: string): boolean {
  return (
    namespace === '' ||
    (key.length > namespace.length && key.charCodeAt(namespace.length) === 47 && key.startsWith(namespace))
  );
}
