// Objects as one transaction of the store, without admission in between.
import type { PutOperation } from '../../actors/store/protocol.ts';
import { EXPECT_ANY } from '../../actors/store/protocol.ts';
import { decode } from '../../api/codec/decode.ts';
import { encodeStored } from '../../api/codec/stored-object.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { packAttributes } from '../../storage/forms/attributes.ts';
import { objectKey } from '../../storage/object-key.ts';

const CONFIG_MAP = schemaOf(DIALECTS.orch).kind('', 'v1', 'ConfigMap')!;

interface Metadata {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Puts of config maps, whatever is there. */
export function transactionOf(
  storageKey: string,
  objects: readonly Record<string, unknown>[],
): { readonly operations: readonly PutOperation[]; readonly payload: Uint8Array } {
  const values: Buffer[] = [];
  let valueOffset = 0;
  const operations = objects.map((object): PutOperation => {
    const { namespace, name, labels } = object.metadata as Metadata;
    // As admission would have it: others may read it by its fields, and show it so.
    const canonical = decode(structuredClone({ kind: 'ConfigMap', apiVersion: 'v1', ...object }), CONFIG_MAP).object;
    const stored = encodeStored(canonical as JsonObject & { metadata: Record<string, unknown> }, 'v1', 'ConfigMap');
    const value = Buffer.from(stored.text);
    values.push(value);
    const operation: PutOperation = {
      key: objectKey(storageKey, namespace, name),
      expect: EXPECT_ANY,
      valueOffset,
      valueLength: value.length,
      revisionOffset: stored.revisionOffset,
      itemOffset: stored.itemOffset,
      attributes: packAttributes(labels, []),
      schemaGeneration: 1,
    };
    valueOffset += value.length;
    return operation;
  });
  return { operations, payload: Buffer.concat(values) };
}
