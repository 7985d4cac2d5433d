// Objects as one transaction of the store, without admission in between.
import type { PutOperation } from '../../actors/store/protocol.ts';
import { EXPECT_ANY } from '../../actors/store/protocol.ts';
import { encodeStored } from '../../api/codec/stored-object.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { packAttributes } from '../../storage/attributes.ts';
import { objectKey } from '../../storage/object-key.ts';

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
    const stored = encodeStored(object as JsonObject & { metadata: Record<string, unknown> }, 'v1', 'ConfigMap');
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
