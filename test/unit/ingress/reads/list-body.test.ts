import test from 'ava';
import { streamList, wholeList } from '../../../../actors/ingress/reads/list-body.ts';
import type { ListEnvelope, ListItems } from '../../../../rendering/list.ts';
import { SeededRandom } from '../../../../runtime/simulation/seeded-random.ts';
import { FakeResponse } from '../../hub/fake-response.ts';
import { Records } from '../../hub/records.ts';

const ENVELOPE: ListEnvelope = {
  apiVersion: 'v1',
  listKind: 'SampleList',
  revision: 42,
  continueToken: '',
  remaining: undefined,
};

/** Items whose texts have these lengths, and what a client must read of them. */
function items(textLengths: readonly number[]): { list: ListItems; expected: object[] } {
  const total = textLengths.reduce((sum, length) => sum + 3 * length + 400, 1024);
  const records = new Records(Math.ceil(total / 8) * 8);
  const places = new Uint32Array(textLengths.length * 2);
  const expected = textLengths.map((length, index) => {
    const text = 'é"\n'.repeat(length).slice(0, length);
    const name = `o${index}`;
    const { slab, offset } = records.write({ namespace: 'ä', name, text }, index + 1);
    places.set([slab, offset], index * 2);
    return { metadata: { name, namespace: 'ä', resourceVersion: String(index + 1) }, data: { text } };
  });
  return { list: { places, slabs: [records.slab] }, expected };
}

function listOf(expected: readonly object[], metadata: object = { resourceVersion: '42' }): object {
  return { kind: 'SampleList', apiVersion: 'v1', metadata, items: expected };
}

async function streamed(envelope: ListEnvelope, list: ListItems, response = new FakeResponse()): Promise<FakeResponse> {
  response.start(200, []);
  await streamList(envelope, list, { response, sentBytes: 0 }, () => Promise.resolve());
  return response;
}

const SIZES: readonly (readonly [what: string, lengths: readonly number[]])[] = [
  ['no items', []],
  ['one item', [10]],
  ['one empty item', [0]],
  ['items of all sizes', [0, 1, 1000, 3, 20_000, 0, 7]],
];

for (const [what, lengths] of SIZES) {
  test(`a list of ${what} is the same JSON at once and in pieces`, async (t) => {
    const { list, expected } = items(lengths);
    const whole = wholeList(ENVELOPE, list)!.toString('utf8');
    t.deepEqual(JSON.parse(whole), listOf(expected));
    t.is(whole.at(-1), '\n');
    const response = await streamed(ENVELOPE, list);
    t.is(response.text, whole);
    t.true(response.ended);
  });
}

test('the metadata says where the next chunk is, and how many follow where that is known', (t) => {
  const { list, expected } = items([1]);
  const metadata = (envelope: Partial<ListEnvelope>) =>
    JSON.parse(wholeList({ ...ENVELOPE, ...envelope }, list)!.toString('utf8'));
  t.deepEqual(
    metadata({ continueToken: 'a"b', remaining: 7 }),
    listOf(expected, { resourceVersion: '42', continue: 'a"b', remainingItemCount: 7 }),
  );
  t.deepEqual(metadata({ continueToken: 'x' }), listOf(expected, { resourceVersion: '42', continue: 'x' }));
  t.deepEqual(metadata({ remaining: 0 }), listOf(expected));
});

test('the list of a custom type says that nothing follows as well', (t) => {
  const list = { ...items([]).list, areWhole: true };
  const metadataOf = (envelope: ListEnvelope) =>
    (JSON.parse(wholeList(envelope, list)!.toString('utf8')) as { metadata: object }).metadata;
  t.deepEqual(metadataOf(ENVELOPE), { continue: '', resourceVersion: '42' });
  t.deepEqual(metadataOf({ ...ENVELOPE, continueToken: 'x' }), { continue: 'x', resourceVersion: '42' });
});

test('a list is built at once up to a size, and not beyond', (t) => {
  const plain = (bytes: number) => {
    const records = new Records(1024 * 1024);
    const { slab, offset } = records.write({ namespace: 'a', name: 'x', text: 'x'.repeat(bytes) }, 1);
    return { places: Uint32Array.of(slab, offset), slabs: [records.slab] };
  };
  const empty = wholeList(ENVELOPE, plain(0))!.length;
  const limit = 256 * 1024;
  t.is(wholeList(ENVELOPE, plain(limit - empty))?.length, limit);
  t.is(wholeList(ENVELOPE, plain(limit - empty + 1)), undefined);
});

test('a large list goes out in pieces, each when the socket has taken the one before', async (t) => {
  const random = new SeededRandom(1);
  const { list, expected } = items(Array.from({ length: 120 }, () => random.below(30_000)));
  t.is(wholeList(ENVELOPE, list), undefined);
  const response = new FakeResponse();
  response.isFull = () => true;
  let done = false;
  const sending = streamed(ENVELOPE, list, response).then(() => {
    done = true;
  });
  while (!done) {
    const before = response.chunks.length;
    await new Promise((resolve) => setImmediate(resolve));
    t.is(response.chunks.length, before, 'nothing is written to a full socket');
    response.drain();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await sending;
  t.is(response.writesWhileFull, 0);
  t.true(response.chunks.length > 5);
  t.true(response.chunks.every((chunk) => chunk.length < 256 * 1024 + 100_000));
  t.deepEqual(JSON.parse(response.text), listOf(expected));
});

test('lists that are made while others wait for their clients do not come into those', async (t) => {
  const lists = [1, 2, 3].map((by) => items(Array.from({ length: 60 }, (_, index) => by * 5000 + index)));
  const small = items([1, 2, 3]);
  const responses = lists.map(() => new FakeResponse());
  for (const response of responses) response.isFull = () => true;
  const underWay = new Set(responses);
  const sending = lists.map(({ list }, index) =>
    streamed(ENVELOPE, list, responses[index]).then((response) => underWay.delete(response)),
  );
  while (underWay.size > 0) {
    t.deepEqual(JSON.parse(wholeList(ENVELOPE, small.list)!.toString('utf8')), listOf(small.expected));
    for (const response of underWay) response.drain();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(sending);
  for (const [index, { expected }] of lists.entries())
    t.deepEqual(JSON.parse(responses[index]!.text), listOf(expected));
});

test('an item larger than a piece is a piece of its own', async (t) => {
  const { list, expected } = items([700_000, 5, 700_000]);
  const response = await streamed(ENVELOPE, list);
  t.deepEqual(JSON.parse(response.text), listOf(expected));
});

test('a client that goes away ends the work, before, between and during the pieces', async (t) => {
  const { list } = items(Array.from({ length: 60 }, () => 20_000));
  const gone = new FakeResponse();
  gone.start(200, []);
  gone.disconnect();
  await streamList(ENVELOPE, list, { response: gone, sentBytes: 0 }, () => Promise.resolve());
  t.deepEqual(gone.chunks, []);
  t.false(gone.ended);

  const waiting = new FakeResponse();
  waiting.isFull = () => true;
  const sending = streamed(ENVELOPE, list, waiting);
  await new Promise((resolve) => setImmediate(resolve));
  waiting.disconnect();
  await sending;
  t.is(waiting.chunks.length, 1);
  t.false(waiting.ended);
});

// The others of the file would count as well.
test.serial('lists that their clients take at once let others have a turn, the more of them the sooner', async (t) => {
  const { list } = items(Array.from({ length: 200 }, () => 20_000));
  const pausesOfEach = async (lists: number): Promise<readonly number[]> => {
    const all = Array.from({ length: lists }, async () => {
      const response = new FakeResponse();
      response.start(200, []);
      let pauses = 0;
      await streamList(ENVELOPE, list, { response, sentBytes: 0 }, () => {
        pauses += 1;
        return new Promise((resolve) => setImmediate(resolve));
      });
      return pauses;
    });
    return Promise.all(all);
  };
  const [alone] = await pausesOfEach(1);
  t.true(alone! >= 1 && alone! <= 3, String(alone));
  const ofTen = (await pausesOfEach(10)).reduce((sum, pauses) => sum + pauses);
  t.true(ofTen > 10 * 4, String(ofTen));
});
