import test from 'ava';
import { READER_SLOTS, SharedState } from '../../../storage/shared-state.ts';

test('the committed revision is seen through every mapping of the memory', (t) => {
  const store = new SharedState();
  const reader = new SharedState(store.memory);
  t.is(reader.committedRevision, 0);
  for (const revision of [1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    store.committedRevision = revision;
    t.is(reader.committedRevision, revision);
  }
});

test('mapping the memory again takes no slot and frees none', (t) => {
  const store = new SharedState();
  const slot = store.claimReader(5)!;
  new SharedState(store.memory).setReaderEpoch(slot, 6);
  t.is(store.readerEpoch(slot), 6);
  t.is(store.lowestEpoch(), 6);
});

test('the lowest epoch is that of the slowest reader, and there is none without readers', (t) => {
  const store = new SharedState();
  t.is(store.lowestEpoch(), Number.POSITIVE_INFINITY);
  const slow = store.claimReader(0)!;
  const fast = store.claimReader(3)!;
  t.not(slow, fast);
  t.is(store.lowestEpoch(), 0);
  store.setReaderEpoch(slow, 9);
  t.is(store.lowestEpoch(), 3);
  store.freeReader(fast);
  t.is(store.lowestEpoch(), 9);
  store.freeReader(slow);
  t.is(store.lowestEpoch(), Number.POSITIVE_INFINITY);
});

test('as many readers as there are slots find one, the next finds none until one is freed', (t) => {
  const store = new SharedState();
  const slots = Array.from({ length: READER_SLOTS }, () => store.claimReader(1));
  t.is(new Set(slots).size, READER_SLOTS);
  t.false(slots.includes(undefined));
  t.is(store.claimReader(1), undefined);
  store.freeReader(slots[17]!);
  t.is(store.claimReader(1), slots[17]);
});
