// Commits and their results as they cross threads (runtime/flat-form.ts): one of each for every write.
import type { AskMessage, ReplyTo } from '../../runtime/actor.ts';
import type { FieldReader, FlatForm, FlatForms } from '../../runtime/flat-form.ts';
import type { Guard, Operation, PublishedPlace, StoreProtocol, Transaction, TransactionResult } from './protocol.ts';

type Commit = AskMessage<StoreProtocol, 'commit'>;
type Committed = ReplyTo<StoreProtocol, 'commit'>;

/** In place of a count: the list is absent. */
const ABSENT = -1;
/** In place of a value's length: the key is removed. */
const REMOVAL = -1;

const NO_PAYLOAD = new Uint8Array();

const COMMIT: FlatForm<Commit> = {
  write({ transactions }, fields) {
    fields.push(transactions.length);
    for (const { operations, guards, thenRemoves, isBehindFirst } of transactions) {
      fields.push(operations.length, guards?.length ?? ABSENT, thenRemoves?.length ?? ABSENT, isBehindFirst ? 1 : 0);
      for (const operation of operations) writeOperation(operation, fields);
      if (guards !== undefined) for (const { key, expect } of guards) fields.push(key, expect);
      if (thenRemoves !== undefined) for (const key of thenRemoves) fields.push(key);
    }
    return true;
  },
  read(fields) {
    const transactions = fields.list(fields.number(), () => readTransaction(fields));
    return { type: 'commit', transactions, payload: NO_PAYLOAD };
  },
};

function writeOperation(operation: Operation, fields: unknown[]): void {
  const { key, expect } = operation;
  if ('delete' in operation) {
    fields.push(key, expect, REMOVAL);
    return;
  }
  const { valueOffset, valueLength, revisionOffset, itemOffset, attributes, schemaGeneration } = operation;
  fields.push(key, expect, valueLength, valueOffset, revisionOffset, itemOffset, attributes, schemaGeneration);
}

function readTransaction(fields: FieldReader): Transaction {
  const operationCount = fields.number();
  const guardCount = fields.number();
  const removeCount = fields.number();
  const isBehindFirst = fields.number() === 1;
  const operations = fields.list(operationCount, () => readOperation(fields));
  // All members, in this order, of each: V8 has one shape for them then.
  return {
    operations,
    guards: guardCount === ABSENT ? undefined : fields.list(guardCount, () => readGuard(fields)),
    thenRemoves: removeCount === ABSENT ? undefined : fields.list(removeCount, () => fields.text()),
    isBehindFirst,
  };
}

function readOperation(fields: FieldReader): Operation {
  const key = fields.text();
  const expect = fields.number();
  const valueLength = fields.number();
  if (valueLength === REMOVAL) return { key, expect, delete: true };
  const valueOffset = fields.number();
  const revisionOffset = fields.number();
  const itemOffset = fields.number();
  const attributes = fields.text();
  const schemaGeneration = fields.number();
  return { key, expect, valueOffset, valueLength, revisionOffset, itemOffset, attributes, schemaGeneration };
}

function readGuard(fields: FieldReader): Guard {
  const key = fields.text();
  return { key, expect: fields.number() };
}

/** Those that refuse no write for what lies at its key and cannot be read: nearly all. */
const COMMITTED: FlatForm<Committed> = {
  write({ results }, fields) {
    fields.push(results.length);
    for (const result of results) {
      if (!result.ok) {
        if (result.why !== undefined) return false;
        fields.push(ABSENT, result.reason, result.key, result.currentRevision);
        continue;
      }
      fields.push(result.places.length, result.revision);
      for (const { revision, slab, offset, incarnation } of result.places)
        fields.push(revision, slab, offset, incarnation);
    }
    return true;
  },
  read: (fields) => ({ results: fields.list(fields.number(), () => readResult(fields)) }),
};

function readResult(fields: FieldReader): TransactionResult {
  const placeCount = fields.number();
  if (placeCount === ABSENT) {
    const reason = fields.text() as Extract<TransactionResult, { readonly ok: false }>['reason'];
    const key = fields.text();
    return { ok: false, reason, key, currentRevision: fields.number() };
  }
  const revision = fields.number();
  return { ok: true, revision, places: fields.list(placeCount, () => readPlace(fields)) };
}

function readPlace(fields: FieldReader): PublishedPlace {
  const revision = fields.number();
  const slab = fields.number();
  const offset = fields.number();
  return { revision, slab, offset, incarnation: fields.number() };
}

/** What the store is asked and answers. */
export const STORE_FORMS: FlatForms = { messages: { commit: COMMIT }, answers: { commit: COMMITTED } };
