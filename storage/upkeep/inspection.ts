// Everything that can be said of a store's files without opening it: whose it is, what of its events and objects is whole,
// what is not, and what that costs. Changes nothing and decides nothing; a start refuses what has problems here
// (actors/store/log/recovery.ts asks the same questions and stops at the first wrong answer).
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { OrchError } from '../../runtime/errors.ts';
import { MARKER_DAMAGE } from '../engines/store-damage.ts';
import { foundDatabase } from '../level/found-files.ts';
import { isMarkerDamaged, markedRevision } from '../level/head-marker.ts';
import {
  DATABASE_DIRECTORY,
  EVENTS,
  formatProblem,
  HEAD_FILE,
  META_COMPACTED,
  META_FORMAT,
  META_TOKEN_KEY,
  type StoreIdentity,
  unsealed,
  VALUES,
} from '../level/level-layout.ts';
import { type DatabaseFiles, type FileChoice, readDatabaseFiles } from '../leveldb/database-files.ts';
import { type EventRecord, liveDigestOf } from '../records/event-log.ts';
import { type ChainedRecords, readChain } from './event-chain.ts';
import { type ObjectFinding, type Objects, readObjects } from './object-records.ts';

export interface Inspection {
  /** One line each; empty when the store is sound. */
  readonly problems: readonly string[];
  /** Undefined when what says so is lost. */
  readonly identity: StoreIdentity | undefined;
  /** What keys begin with; inferred where `identity` is lost, undefined where there is nothing to infer it from. */
  readonly prefix: string | undefined;
  readonly tokenKey: Uint8Array | undefined;
  readonly markedRevision: number;
  readonly compactedRevision: number;
  /** Every change from the compacted revision to this one is in the event log. */
  readonly soundRevision: number;
  /** The highest revision that anything whole speaks of, the head marker included. */
  readonly reachedRevision: number;
  readonly events: number;
  /** The objects that are whole, as they must be by all that is known: their stored forms. */
  readonly objects: ReadonlyMap<string, Buffer>;
  readonly findings: readonly ObjectFinding[];
  /** How many objects more there must be, by the newest acknowledged event record, of which nothing tells even the keys. */
  readonly unnamed: number;
  /** True when the newest acknowledged event record names exactly these objects: whatever is damaged, none is lost. */
  readonly isComplete: boolean;
  /** Of the objects' keys and revisions, as event records hold it. */
  readonly digest: number;
  readonly bytes: number;
}

/**
 * Inspects the store in a data directory. `choice`: see storage/leveldb/database-files.ts. Throws OrchError StoreUnusable for one of
 * a format that this release does not know: judged by its rules a sound store would be a damaged one, and a repair would spoil it.
 */
export function inspectStore(directory: string, choice: FileChoice = 'manifest'): Inspection {
  const head = join(directory, HEAD_FILE);
  const files = readDatabaseFiles(foundDatabase(join(directory, DATABASE_DIRECTORY)), choice);
  const identity = identityIn(files.values.get(META_FORMAT));
  const unread = identity && formatProblem(identity.format);
  if (unread !== undefined) throw new OrchError('StoreUnusable', `the store in ${directory} ${unread}`);
  const found = inspect(files, markedRevision(head));
  return isMarkerDamaged(head) ? { ...found, problems: [...found.problems, MARKER_DAMAGE] } : found;
}

function inspect(files: DatabaseFiles, marked: number): Inspection {
  const problems = [...files.damages];
  const metadata = readMetadata(files.values, problems);
  const prefix = metadata.identity?.prefix ?? inferPrefix(files.values.keys());
  const { values, events } = partsOf(files.values, prefix);
  const chain = readChain(events, metadata.compacted);
  problems.push(...chain.problems);
  const reached = chain.records.at(-1)?.lastRevision ?? chain.compactedRevision;
  if (reached < marked) problems.push(`events ${reached + 1} to ${marked} were acknowledged and are missing`);
  const objects = readObjects(values, chain.records);
  const digest = digestOf(objects);
  const contradiction = contradictionOf(chain.records.at(-1), objects, digest);
  const isAcknowledged = chain.records.length > 0 && reached >= marked;
  problems.push(...objects.findings.map(({ what }) => what), ...missingRecord(chain, objects));
  if (objects.findings.length === 0 && contradiction !== undefined) problems.push(contradiction);
  return {
    problems,
    identity: metadata.identity,
    prefix,
    tokenKey: metadata.tokenKey,
    markedRevision: marked,
    compactedRevision: chain.compactedRevision,
    soundRevision: chain.soundRevision,
    reachedRevision: Math.max(marked, chain.compactedRevision, reached, objects.highestRevision),
    events: chain.records.reduce((sum, record) => sum + record.events.length, 0),
    objects: objects.whole,
    findings: objects.findings,
    unnamed: isAcknowledged ? unnamedOf(chain.records.at(-1)!, objects) : 0,
    isComplete: isAcknowledged && contradiction === undefined,
    digest,
    bytes: files.bytes,
  };
}

/** How many objects there must be beside those that are there, in whatever version, and those that are lost by name. */
function unnamedOf({ liveObjects }: EventRecord, { revisions, findings }: Objects): number {
  const named = findings.filter(({ key, isLost }) => isLost && !revisions.has(key));
  return Math.max(0, liveObjects - revisions.size - named.length);
}

/** Undefined where there is none, or its checksum is another. */
function identityIn(sealedFormat: Buffer | undefined): StoreIdentity | undefined {
  const format = sealedFormat && unsealed(sealedFormat);
  return format && (JSON.parse(format.toString('utf8')) as StoreIdentity);
}

interface Metadata {
  readonly identity: StoreIdentity | undefined;
  readonly tokenKey: Uint8Array | undefined;
  /** Undefined: unknown. */
  readonly compacted: number | undefined;
}

function readMetadata(values: ReadonlyMap<string, Buffer>, problems: string[]): Metadata {
  const read = (key: string, isRequired: boolean): Buffer | undefined => {
    const bytes = values.get(key);
    const value = bytes && unsealed(bytes);
    if (bytes === undefined && isRequired) problems.push(`${key} is missing`);
    if (bytes !== undefined && value === undefined) problems.push(`${key} does not match its checksum`);
    return value;
  };
  read(META_FORMAT, true);
  const tokenKey = read(META_TOKEN_KEY, true);
  const compacted = read(META_COMPACTED, false);
  return {
    identity: identityIn(values.get(META_FORMAT)),
    tokenKey,
    compacted: compacted?.readDoubleLE() ?? (values.has(META_COMPACTED) ? undefined : 0),
  };
}

const EVENT_KEY = new RegExp(`^(.*)${EVENTS}[0-9a-f]{14}$`);

function inferPrefix(keys: Iterable<string>): string | undefined {
  for (const key of keys) {
    const ofEvent = EVENT_KEY.exec(key)?.[1];
    if (ofEvent !== undefined) return ofEvent;
    const end = key.indexOf(VALUES);
    if (end >= 0) return key.slice(0, end);
  }
  return undefined;
}

/** The objects by their keys, and the event records in order. */
function partsOf(all: ReadonlyMap<string, Buffer>, prefix: string | undefined) {
  const values = new Map<string, Buffer>();
  const events: [revision: string, record: Buffer][] = [];
  if (prefix === undefined) return { values, events };
  for (const [key, value] of all) {
    if (key.startsWith(prefix + VALUES)) values.set(key.slice(prefix.length + VALUES.length), value);
    else if (key.startsWith(prefix + EVENTS)) events.push([key.slice(prefix.length + EVENTS.length), value]);
  }
  events.sort(([a], [b]) => (a < b ? -1 : 1));
  return { values, events };
}

/** Compaction leaves the newest record, and objects come with one. */
function missingRecord({ records, compactedRevision }: ChainedRecords, { whole }: Objects): string[] {
  if (records.length > 0) return [];
  if (compactedRevision > 0) return [`no event record is left after revision ${compactedRevision}`];
  return whole.size > 0 ? ['there are objects but no event record'] : [];
}

function digestOf({ revisions }: Objects): number {
  let digest = 0;
  for (const [key, revision] of revisions) digest = (digest + liveDigestOf(crc32(key), revision)) >>> 0;
  return digest;
}

/** What the newest event record says of all objects together, if they are not these. */
function contradictionOf(last: EventRecord | undefined, { revisions }: Objects, digest: number): string | undefined {
  if (last === undefined) return undefined;
  if (revisions.size !== last.liveObjects) {
    return `there must be ${last.liveObjects} objects at revision ${last.lastRevision}, ${revisions.size} were found`;
  }
  return digest === last.liveDigest ? undefined : `the objects are not those of revision ${last.lastRevision}`;
}
