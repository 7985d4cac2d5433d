// Objects in our stored form, and an engine in the original's layout on any cluster.
import { randomBytes, randomUUID } from 'node:crypto';
import { encodeStored } from '../../../../api/codec/stored-object.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { createRegistry, type Registry } from '../../../../api/resources/registry.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { realEnvironment } from '../../../../runtime/real-environment.ts';
import type { EtcdCluster } from '../../../../storage/etcd/etcd-cluster.ts';
import { type OriginalSettings, originalEngine } from '../../../../storage/etcd/original/assembled-engine.ts';
import type { OriginalEngine } from '../../../../storage/etcd/original/original-engine.ts';
import { packAttributes } from '../../../../storage/forms/attributes.ts';
import { readStoredValue, storedValueBytesMax, writeStoredValue } from '../../../../storage/forms/stored-value.ts';
import { parseIpRange } from '../../../../values/ip.ts';

const { timers, clock } = realEnvironment;

export const REGISTRY: Registry = createRegistry(DIALECTS.kubernetes);

export const NETWORK = {
  clusterIpRanges: [parseIpRange('10.96.0.0/24')!],
  nodePorts: { first: 30000, last: 30063 },
};

export function settingsFor(more: Partial<OriginalSettings> = {}): OriginalSettings {
  return {
    registry: REGISTRY,
    prefix: '/registry',
    media: 'protobuf',
    features: () => true,
    encryption: undefined,
    network: NETWORK,
    eventTtlSeconds: 3600,
    leaseReuseSeconds: 60,
    timers,
    monotonicMs: () => clock.monotonicMs(),
    freshBytes: (count) => randomBytes(count),
    processId: randomUUID(),
    warn: () => {},
    ...more,
  };
}

export function engineOn(cluster: EtcdCluster, more: Partial<OriginalSettings> = {}): OriginalEngine {
  return originalEngine(cluster, settingsFor(more));
}

/** The stored form of an object of a built-in type, as admission makes it. */
export function storedFormOf(key: string, object: JsonObject, bornRevision = 0): Uint8Array {
  const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata: JsonObject };
  const { text, revisionOffset, itemOffset } = encodeStored({ ...object, metadata }, apiVersion, kind);
  const attributes = packAttributes(metadata.labels as Record<string, string> | undefined, []);
  const json = Buffer.from(text);
  const target = Buffer.alloc(storedValueBytesMax(attributes, json.length, itemOffset));
  const head = { revision: 0, bornRevision, schemaGeneration: 1, revisionOffset, itemOffset };
  return target.subarray(0, writeStoredValue(target, 0, key, head, attributes, json, 'json'));
}

/** The object of a stored form, without the version it does not know. */
export function objectOf(key: string, stored: Uint8Array): JsonObject {
  const { resourceVersion: _, ...metadata } = rawObjectOf(key, stored).metadata as JsonObject;
  return { ...rawObjectOf(key, stored), metadata };
}

function rawObjectOf(key: string, stored: Uint8Array): JsonObject {
  return JSON.parse(readStoredValue(key, stored)!.json.toString('utf8')) as JsonObject;
}
