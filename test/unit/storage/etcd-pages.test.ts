// What lies in etcd, read a page at a time.
import test from 'ava';
import type { EtcdCluster, EtcdPair, RangeRequest } from '../../../storage/etcd/etcd-cluster.ts';
import { EtcdPages } from '../../../storage/etcd/etcd-pages.ts';

const MIB = 1024 * 1024;
const KEYS = 3000;

interface Read {
  readonly keys: readonly string[];
  /** What the pages took. */
  readonly bytes: readonly number[];
  readonly revisions: ReadonlySet<number | undefined>;
}

/** Reads a cluster whose values are all of one size. */
async function readAll(valueBytes: number): Promise<Read> {
  const value = new Uint8Array(valueBytes);
  const all = Array.from({ length: KEYS }, (_, number): EtcdPair => {
    return { key: `k/${String(number).padStart(6, '0')}`, createRevision: 1, modRevision: 1, version: 1, value };
  });
  const revisions = new Set<number | undefined>();
  const range = async ({ key, limit = KEYS, revision }: RangeRequest) => {
    revisions.add(revision);
    const rest = all.filter((pair) => pair.key >= key);
    return { revision: 7, pairs: rest.slice(0, limit), more: rest.length > limit };
  };
  const pages = new EtcdPages({ range } as unknown as EtcdCluster, 'k/', 'k0');
  const keys: string[] = [];
  const bytes: number[] = [];
  for (let page = await pages.next(); page.length > 0; page = await pages.next()) {
    keys.push(...page.map(({ key }) => key));
    bytes.push(page.length * valueBytes);
  }
  return { keys, bytes, revisions };
}

for (const [what, valueBytes, pagesMax] of [
  ['small', 100, 10],
  ['large', MIB, KEYS],
] as const) {
  test(`all that lies there is read once and at one revision where values are ${what}`, async (t) => {
    const { keys, bytes, revisions } = await readAll(valueBytes);
    t.is(keys.length, KEYS);
    t.is(new Set(keys).size, KEYS);
    t.deepEqual([...revisions], [undefined, 7]);
    t.true(bytes.length <= pagesMax, `${bytes.length} pages`);
  });
}

test('where values are large, a page takes no more than eight MiB behind the first', async (t) => {
  const { bytes } = await readAll(MIB);
  t.true(bytes[0]! <= 50 * MIB);
  t.true(Math.max(...bytes.slice(1)) <= 8 * MIB);
});
