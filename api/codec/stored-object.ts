// The JSON text an object is stored and sent as. kind and apiVersion come first, because items inside a list leave them
// out; metadata.resourceVersion has room for the digits the store writes in place at commit. Encoded once, then only
// copied.

import type { EncodedTexts } from './encoded-texts.ts';

/** Width of the resourceVersion slot: the 16 digits of 2^53 in quotes. */
export const REVISION_SLOT_BYTES = 18;
const REVISION_SLOT = '"0"'.padEnd(REVISION_SLOT_BYTES);

/** metadata members that stand before resourceVersion, in the order Kubernetes writes them. */
const BEFORE_REVISION = ['name', 'generateName', 'namespace', 'selfLink', 'uid'] as const;
const BEFORE_REVISION_SET: ReadonlySet<string> = new Set([...BEFORE_REVISION, 'resourceVersion']);
/** The rest of metadata in Kubernetes' order; members not listed follow. */
const AFTER_REVISION = [
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'clusterName',
  'managedFields',
] as const;
const AFTER_REVISION_SET: ReadonlySet<string> = new Set(AFTER_REVISION);

export interface EncodedObject {
  readonly text: string;
  /** UTF-8 byte offset of the resourceVersion slot. */
  readonly revisionOffset: number;
  /** UTF-8 byte offset of the first member after kind and apiVersion. */
  readonly itemOffset: number;
}

interface EncodableObject {
  readonly [member: string]: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Encodes an object for the store. kind and apiVersion are the stored type's, whatever the object says.
 * Members whose value is undefined are left out.
 *
 * @param managedFieldsText JSON to stand for metadata.managedFields, which the object then has not; empty for none.
 * @param texts of parts of the object that are encoded already.
 */
export function encodeStored(
  object: EncodableObject,
  apiVersion: string,
  kind: string,
  managedFieldsText = '',
  texts?: EncodedTexts,
): EncodedObject {
  const typeMeta = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const metadata = object.metadata;
  let before = `${typeMeta}"metadata":{`;
  for (const member of BEFORE_REVISION) {
    const value = metadata[member];
    if (value !== undefined && value !== '') before += `"${member}":${JSON.stringify(value)},`;
  }
  before += '"resourceVersion":';
  let text = before + REVISION_SLOT;
  for (const member of AFTER_REVISION) text += encodeMember(member, metadata[member], texts);
  for (const member of Object.keys(metadata)) {
    if (!AFTER_REVISION_SET.has(member) && !BEFORE_REVISION_SET.has(member))
      text += encodeMember(member, metadata[member], texts);
  }
  text += managedFieldsText === '' ? '}' : `,"managedFields":${managedFieldsText}}`;
  for (const member of Object.keys(object)) {
    if (member !== 'kind' && member !== 'apiVersion' && member !== 'metadata')
      text += encodeMember(member, object[member], texts);
  }
  text += '}';
  // Names are ASCII for nearly every type, but not for all: offsets count bytes.
  return { text, revisionOffset: utf8Length(before), itemOffset: utf8Length(typeMeta) };
}

function encodeMember(member: string, value: unknown, texts: EncodedTexts | undefined): string {
  if (value === undefined) return '';
  return `,${JSON.stringify(member)}:${texts === undefined ? JSON.stringify(value) : texts.of(value)}`;
}

/** UTF-8 length of a well-formed string; short and almost always ASCII here. */
function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is four bytes over two units; other units above 0x7ff are three.
    length += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return length;
}
