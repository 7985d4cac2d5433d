// What requests are judged by, as it is followed: told once all is known, behind each batch that changed it, and not for a status.
import test from 'ava';
import { type FlowObjects, FollowedFlows } from '../../../../actors/ingress/fairness/followed-flows.ts';
import type { StoreBatch } from '../../../../actors/store/protocol.ts';
import type { ActorContext } from '../../../../runtime/actor.ts';
import type { PresentState } from '../../../../storage/following/publication.ts';
import type { FeedEvent, StoreFeed } from '../../../../storage/following/store-feed.ts';
import { SharedState } from '../../../../storage/shared-state.ts';
import { fakeContext } from '../../controllers/fake-context.ts';
import { DIALECT } from '../../controllers/fixture.ts';
import { VirtualTime } from '../../controllers/virtual-time.ts';

const GROUP = DIALECT.spell('flowcontrol.apiserver.@group');

interface Written {
  readonly plural?: 'flowschemas' | 'prioritylevelconfigurations';
  readonly name: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly status?: object;
  readonly isDeleted?: boolean;
}

function eventOf({ plural = 'flowschemas', name, uid = name, generation = 1, status, isDeleted }: Written): FeedEvent {
  const object = { metadata: { name, uid, generation, labels: { a: 'b' } }, spec: { generation }, status };
  const type = isDeleted === true ? 'delete' : 'put';
  return { type, storageKey: `${GROUP}/${plural}`, namespace: '', name, object: () => object } as unknown as FeedEvent;
}

/** Follows a store that has `present`. */
function following(present: Written[]) {
  const time = new VirtualTime();
  let [incarnation, sequence] = [0, 0];
  let batch: readonly Written[] = [];
  const asked: string[] = [];
  const context = {
    ...fakeContext(time, (_actor, { type }) => {
      asked.push(type);
      const state = { incarnation: ++incarnation, sequence, revision: 9, sharedState: new SharedState().memory };
      return Promise.resolve(state as unknown as PresentState);
    }),
    log: { warn: () => {} },
  } as unknown as ActorContext;
  const told: FlowObjects[] = [];
  const types: (readonly string[] | undefined)[] = [];
  const flows = new FollowedFlows(
    context,
    DIALECT,
    (objects) => void told.push(objects),
    (_context, storageKeys, onEvent): StoreFeed => {
      types.push(storageKeys);
      return {
        begin: () => {
          for (const one of present) onEvent(eventOf(one));
          return { next: () => ({ done: true, value: undefined }) };
        },
        apply: () => {
          for (const one of batch) onEvent(eventOf(one));
        },
      };
    },
  );
  const commit = (...written: readonly Written[]): void => {
    batch = written;
    const after = sequence++;
    flows.onStoreBatch({ incarnation, sequence, after, lastRevision: 10 + sequence } as unknown as StoreBatch);
  };
  const last = () => {
    const { schemas, levels } = told.at(-1)!;
    return [schemas, levels].map((objects) => objects.map(({ metadata }) => (metadata as { uid: string }).uid));
  };
  return { flows, told, types, asked, commit, last, settled: () => time.settle() };
}

test('what requests are judged by is told once all of it is known, without what changes nothing for them', async (t) => {
  const { flows, told, types, settled } = following([
    { name: 's', status: { conditions: [] } },
    { plural: 'prioritylevelconfigurations', name: 'l' },
  ]);
  t.deepEqual(types, [[`${GROUP}/flowschemas`, `${GROUP}/prioritylevelconfigurations`]]);
  flows.start();
  t.deepEqual(told, []);
  await settled();
  const [name, spec] = ['s', { generation: 1 }];
  t.deepEqual(told, [
    { schemas: [{ metadata: { name, uid: name }, spec }], levels: [{ metadata: { name: 'l', uid: 'l' }, spec }] },
  ]);
});

test('a cluster without flow schemas is told as well', async (t) => {
  const { flows, told, settled } = following([]);
  flows.start();
  await settled();
  t.deepEqual(told, [{ schemas: [], levels: [] }]);
});

test('a batch that changes specs, makes anew or deletes is told once, and at once; one of statuses is not', async (t) => {
  const { flows, told, commit, last, settled } = following([{ name: 'a' }, { name: 'b' }]);
  flows.start();
  await settled();
  commit({ name: 'a', status: { conditions: [{ type: 'Dangling' }] } });
  commit();
  t.is(told.length, 1);
  commit({ name: 'a', generation: 2 }, { plural: 'prioritylevelconfigurations', name: 'l' });
  t.is(told.length, 2);
  t.deepEqual(last(), [['a', 'b'], ['l']]);
  t.deepEqual(told.at(-1)!.schemas[0]!.spec, { generation: 2 });
  commit({ name: 'b', uid: 'another' });
  t.deepEqual(last(), [['a', 'another'], ['l']]);
  commit({ name: 'a', isDeleted: true });
  commit({ plural: 'prioritylevelconfigurations', name: 'l', isDeleted: true });
  t.deepEqual(last(), [['another'], []]);
  t.is(told.length, 5);
});

test('when the store was lost what was told holds until all is known again', async (t) => {
  const present: Written[] = [{ name: 'a' }];
  const { flows, told, asked, commit, last, settled } = following(present);
  flows.start();
  await settled();
  present[0] = { name: 'b' };
  flows.onStoreLost();
  commit({ name: 'c' });
  t.is(told.length, 1);
  await settled();
  t.deepEqual(last(), [['b', 'c'], []]);
  flows.stop();
  flows.onStoreLost();
  await settled();
  t.deepEqual(asked, ['subscribe', 'subscribe']);
});
