// The JSON text an object is stored and sent as. kind and apiVersion come first, because items inside a list leave them
// out; metadata.resourceVersion has room for the digits the store writes in place at commit. Encoded once, then only
// copied.

import { keep } from '../../values/kept.ts';
import type { EncodedTexts } from './encoded-texts.ts';
import { keptTextOf } from './known-text.ts';

/** Width of the resourceVersion slot: the 16 digits of 2^53 in quotes. */
export const REVISION_SLOT_BYTES = 18;
const REVISION_SLOT = '"0"'.padEnd(REVISION_SLOT_BYTES);

/** metadata members that stand before resourceVersion, in the order Kubernetes writes them. */
const BEFORE_REVISION = ['name', 'generateName', 'namespace', 'selfLink', 'uid'] as const;
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
/** Where each stands. */
const RANKS: ReadonlyMap<string, number> = new Map(
  [...BEFORE_REVISION, 'resourceVersion', ...AFTER_REVISION].map((member, rank) => [member, rank]),
);

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
  const head = beginning(object.metadata, apiVersion, kind, texts);
  let { text } = head;
  text += managedFieldsText === '' ? '}' : `,"managedFields":${managedFieldsText}}`;
  for (const member of Object.keys(object)) {
    if (member !== 'kind' && member !== 'apiVersion' && member !== 'metadata')
      text += encodeMember(member, object[member], texts);
  }
  text += '}';
  return { text, revisionOffset: head.revisionOffset, itemOffset: head.itemOffset };
}

/**
 * The same of an object of which only metadata is there. `rest`: the text of all that comes behind the members that `metadata` has, as
 * it is stored, from the comma or brace on that follows them.
 */
export function encodeWithRest(
  metadata: EncodableObject['metadata'],
  rest: string,
  apiVersion: string,
  kind: string,
): EncodedObject {
  const { text, revisionOffset, itemOffset } = beginning(metadata, apiVersion, kind, undefined);
  return { text: text + rest, revisionOffset, itemOffset };
}

/** Up to the end of metadata, without its closing brace. */
function beginning(
  metadata: EncodableObject['metadata'],
  apiVersion: string,
  kind: string,
  texts: EncodedTexts | undefined,
): EncodedObject {
  const typeMeta = typeMetaText(apiVersion, kind);
  const { before, after } =
    (texts === undefined ? wholeMetadata(metadata) : undefined) ?? orderedMetadata(metadata, texts);
  const text = `${typeMeta.text}"metadata":${before}${REVISION_SLOT}${after}`;
  // Names are ASCII for nearly every type, but not for all: offsets count bytes.
  return { text, revisionOffset: typeMeta.bytes + METADATA_BYTES + utf8Length(before), itemOffset: typeMeta.bytes };
}

const METADATA_BYTES = '"metadata":'.length;

/** The JSON of metadata before the slot and after it, without the brace at its end. */
interface MetadataText {
  readonly before: string;
  readonly after: string;
}

const REVISION_MEMBER = '"resourceVersion":';
const UID_MEMBER = '"uid":';

/**
 * The text of metadata that is in order already, made in one go; undefined where it is not, or has no uid. The members looked for
 * are the first that are spelled so: what stands before them are texts, in which quotes are escaped.
 */
function wholeMetadata(metadata: EncodableObject['metadata']): MetadataText | undefined {
  // See entriesText.
  if (metadata.managedFields !== undefined) return undefined;
  if (typeof metadata.uid !== 'string' || !isOrdered(metadata)) return undefined;
  const text = JSON.stringify(metadata);
  const { resourceVersion } = metadata;
  if (typeof resourceVersion === 'string') {
    const at = text.indexOf(REVISION_MEMBER) + REVISION_MEMBER.length;
    const end = at + JSON.stringify(resourceVersion).length;
    return { before: text.slice(0, at), after: text.slice(end, -1) };
  }
  if (resourceVersion !== undefined) return undefined;
  const end = text.indexOf(UID_MEMBER) + UID_MEMBER.length + JSON.stringify(metadata.uid).length;
  return { before: `${text.slice(0, end)},${REVISION_MEMBER}`, after: text.slice(end, -1) };
}

/** True where every member has a value and stands where Kubernetes writes it. */
function isOrdered(metadata: EncodableObject['metadata']): boolean {
  let last = -1;
  for (const member in metadata) {
    const rank = RANKS.get(member);
    if (rank === undefined || rank <= last) return false;
    const value = metadata[member];
    if (value === undefined || value === '') return false;
    last = rank;
  }
  return true;
}

/** The JSON of managedFields, put together from that of the field sets that is known. */
function entriesText(entries: unknown): string {
  if (!Array.isArray(entries)) return JSON.stringify(entries);
  let text = '';
  for (const entry of entries as readonly unknown[]) text += `${text === '' ? '' : ','}${entryText(entry)}`;
  return `[${text}]`;
}

function entryText(entry: unknown): string {
  const { fieldsV1, ...head } = (entry ?? {}) as { readonly fieldsV1?: unknown };
  const known = keptTextOf(fieldsV1);
  if (known === undefined) return JSON.stringify(entry);
  const text = JSON.stringify(head);
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"fieldsV1":${known}}`;
}

function orderedMetadata(metadata: EncodableObject['metadata'], texts: EncodedTexts | undefined): MetadataText {
  let before = '{';
  for (const member of BEFORE_REVISION) {
    const value = metadata[member];
    if (value !== undefined && value !== '') before += `"${member}":${JSON.stringify(value)},`;
  }
  before += REVISION_MEMBER;
  let after = '';
  for (const member of AFTER_REVISION) {
    const value = metadata[member];
    if (member === 'managedFields' && value !== undefined && texts === undefined)
      after += `,"managedFields":${entriesText(value)}`;
    else after += encodeMember(member, value, texts);
  }
  for (const member of Object.keys(metadata)) {
    if (!RANKS.has(member)) after += encodeMember(member, metadata[member], texts);
  }
  return { before, after };
}

interface TypeMetaText {
  /** What an object of the type begins with, up to its metadata. */
  readonly text: string;
  readonly bytes: number;
}

/** Those of definitions come and go. */
const KINDS_MAX = 1_000;
/** By kind, of the version that was asked for last. */
const typeMetaTexts = new Map<string, TypeMetaText & { readonly apiVersion: string }>();

function typeMetaText(apiVersion: string, kind: string): TypeMetaText {
  const known = typeMetaTexts.get(kind);
  if (known?.apiVersion === apiVersion) return known;
  const text = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;
  const made = { apiVersion, text, bytes: utf8Length(text) };
  keep(typeMetaTexts, KINDS_MAX, kind, made);
  return made;
}

function encodeMember(member: string, value: unknown, texts: EncodedTexts | undefined): string {
  if (value === undefined) return '';
  return `,${JSON.stringify(member)}:${texts === undefined ? (keptTextOf(value) ?? JSON.stringify(value)) : texts.of(value)}`;
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
