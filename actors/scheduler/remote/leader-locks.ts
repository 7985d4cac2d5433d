// Where a leader says that it leads: a lease, an annotation of an endpoints object or a config map, or one of those and a lease
// beside it, for the time in which schedulers of two releases stand by (SPEC.md "Scheduler options",
// `--leader-elect-resource-lock`). Reads and writes the record; who may take it is leader-election.ts's business.
import type { JsonObject } from '../../../api/codec/decode.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { LeaderLock } from '../configuration/configuration.ts';
import type { ApiServer, ParsedAnswer } from './api-server.ts';
import { objectPath } from './resource-paths.ts';

/** Who leads, and since when. Times are as they stand there: only whether they change counts. */
export interface LeaderRecord {
  /** Empty: nobody. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaderTransitions: number;
}

/** Puts a record in place of the one that was read. False: somebody was faster. Rejects with an error that says why it was refused. */
type PutRecord = (record: LeaderRecord) => Promise<boolean>;

export interface HeldLock {
  /** Undefined: nobody has ever led. */
  readonly record: LeaderRecord | undefined;
  readonly put: PutRecord;
}

/** Rejects with an error that says why it cannot be read. */
export type ReadLock = () => Promise<HeldLock>;

export interface LockPlace {
  readonly server: Pick<ApiServer, 'get' | 'create' | 'replace'>;
  readonly dialect: Dialect;
  readonly namespace: string;
  readonly name: string;
}

/** How one kind of object holds the record. */
interface LockKind {
  readonly apiVersion: string;
  readonly resource: string;
  readonly kind: string;
  readonly read: (object: JsonObject) => LeaderRecord | undefined;
  readonly write: (object: JsonObject, record: LeaderRecord) => JsonObject;
}

/** A lock whose two halves name two leaders belongs to somebody whom nobody is. */
const NOBODY_KNOWN = 'leaderelection/unknown';

/** The lock of that kind. */
export function leaderLock(lock: LeaderLock, place: LockPlace): ReadLock {
  const [first, second] = kindsOf(lock, place.dialect);
  return second === undefined ? single(first, place) : both(single(first, place), single(second, place));
}

/** The objects that hold the lock's record, as events name them; one that cannot be read is left out. */
export async function lockReferences(lock: LeaderLock, place: LockPlace): Promise<readonly JsonObject[]> {
  const { server, dialect, namespace, name } = place;
  const references = kindsOf(lock, dialect).map(async ({ apiVersion, resource, kind }) => {
    const { status, object } = await server.get(objectPath(apiVersion, resource, namespace, name));
    const { uid, resourceVersion } = asObject(object.metadata);
    return status === 200 ? [{ kind, apiVersion, namespace, name, uid, resourceVersion }] : [];
  });
  return (await Promise.all(references)).flat();
}

/** What holds the record; the second beside the first. */
function kindsOf(lock: LeaderLock, dialect: Dialect): readonly [LockKind, ...LockKind[]] {
  const lease = leaseKind(dialect);
  const endpoints = annotated(dialect, 'endpoints', 'Endpoints');
  const configMap = annotated(dialect, 'configmaps', 'ConfigMap');
  const kinds: Readonly<Record<LeaderLock, readonly [LockKind, ...LockKind[]]>> = {
    leases: [lease],
    endpoints: [endpoints],
    configmaps: [configMap],
    endpointsleases: [endpoints, lease],
    configmapsleases: [configMap, lease],
  };
  return kinds[lock];
}

/** A record's times in the form that what holds it has them in: one of two halves may have been read in the other's. */
function timesOf(
  { acquireTime, renewTime }: Pick<LeaderRecord, 'acquireTime' | 'renewTime'>,
  form: (time: string) => string,
): Pick<LeaderRecord, 'acquireTime' | 'renewTime'> {
  return { acquireTime: form(acquireTime), renewTime: form(renewTime) };
}

/** A lease takes no time without its microseconds. */
function asMicroTime(time: string): string {
  return time.replace(/(:\d\d)Z$/, '$1.000000Z');
}

/** The annotation has no parts of seconds. */
function asSeconds(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}

function leaseKind(dialect: Dialect): LockKind {
  return {
    apiVersion: dialect.spell('coordination.@group/v1'),
    resource: 'leases',
    kind: 'Lease',
    read(object) {
      const spec = asObject(object.spec);
      return {
        holderIdentity: asText(spec.holderIdentity),
        leaseDurationSeconds: Number(spec.leaseDurationSeconds ?? 0),
        acquireTime: asText(spec.acquireTime),
        renewTime: asText(spec.renewTime),
        leaderTransitions: Number(spec.leaseTransitions ?? 0),
      };
    },
    write: (object, { leaderTransitions, ...record }) => ({
      ...object,
      spec: { ...record, ...timesOf(record, asMicroTime), leaseTransitions: leaderTransitions },
    }),
  };
}

function annotated(dialect: Dialect, resource: string, kind: string): LockKind {
  const annotation = dialect.spell('control-plane.alpha.@label/leader');
  return {
    apiVersion: 'v1',
    resource,
    kind,
    read(object) {
      const text = asText(asObject(asObject(object.metadata).annotations)[annotation]);
      if (text === '') return undefined;
      const record = asObject(JSON.parse(text));
      return {
        holderIdentity: asText(record.holderIdentity),
        leaseDurationSeconds: Number(record.leaseDurationSeconds ?? 0),
        acquireTime: asText(record.acquireTime),
        renewTime: asText(record.renewTime),
        leaderTransitions: Number(record.leaderTransitions ?? 0),
      };
    },
    write(object, record) {
      const metadata = asObject(object.metadata);
      const annotations = {
        ...asObject(metadata.annotations),
        [annotation]: JSON.stringify({ ...record, ...timesOf(record, asSeconds) }),
      };
      return { ...object, metadata: { ...metadata, annotations } };
    },
  };
}

function single(kind: LockKind, { server, namespace, name }: LockPlace): ReadLock {
  const { apiVersion, resource } = kind;
  const told = `the lock ${namespace}/${name}, a ${kind.kind} of ${apiVersion},`;
  return async () => {
    const { status, object } = await server.get(objectPath(apiVersion, resource, namespace, name));
    if (status === 404) {
      const empty = { kind: kind.kind, apiVersion, metadata: { namespace, name } };
      const collection = objectPath(apiVersion, resource, namespace);
      return {
        record: undefined,
        put: async (record) => isWritten(await server.create(collection, kind.write(empty, record)), told),
      };
    }
    if (status !== 200) throw new Error(`${told} cannot be read (${status})`);
    const path = objectPath(apiVersion, resource, namespace, name);
    const typed = { ...object, kind: kind.kind, apiVersion };
    return {
      record: kind.read(object),
      put: async (record) => isWritten(await server.replace(path, kind.write(typed, record)), told),
    };
  };
}

/** Not where another wrote meanwhile. Whoever is refused for good would otherwise stand by for ever and not know why. */
function isWritten({ status, object }: ParsedAnswer, told: string): boolean {
  if (status < 300) return true;
  if (status === 409) return false;
  throw new Error(`${told} cannot be written (${status} ${asText(object.message)})`);
}

/** The first is whose record counts, unless the second names another leader. */
function both(readFirst: ReadLock, readSecond: ReadLock): ReadLock {
  return async () => {
    const first = await readFirst();
    const second = await readSecond();
    const put: PutRecord = async (record) => (await first.put(record)) && (await second.put(record));
    const [one, other] = [first.record, second.record];
    if (one === undefined || other === undefined || one.holderIdentity === other.holderIdentity) {
      return { record: one ?? other, put };
    }
    return { record: { ...one, holderIdentity: NOBODY_KNOWN, renewTime: one.renewTime + other.renewTime }, put };
  };
}
