// The list of facts stands for the roster where its code is not loaded: they must speak of the same actors.
import test from 'ava';
import { ACTORS } from '../../actors/actors.ts';
import { roster } from '../../actors/roster.ts';
import type { StoreProtocol } from '../../actors/store/protocol.ts';
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import { everyActor } from '../server/every-actor.ts';

const FACTS = ACTORS;

test('what is known of an actor without its code is what its code says', (t) => {
  const known = (facts: object): object => {
    const { owns, create, ...rest } = facts as Record<string, unknown>;
    t.is(typeof create, 'function');
    t.true(owns === undefined || typeof owns === 'string');
    return rest;
  };
  t.deepEqual(
    FACTS,
    everyActor.map((definition) => known(definition)),
  );
});

test('a thread loads the actors that it is asked for, by their names', async (t) => {
  const asked = ['store', 'admission'];
  const loaded = await roster.load(asked);
  t.deepEqual(
    loaded.map(({ actor }) => actor),
    asked,
  );
  const all = await roster.load(FACTS.map(({ actor }) => actor));
  t.deepEqual(
    all.map(({ actor }) => actor),
    everyActor.map(({ actor }) => actor),
  );
});

test('an actor that must be beside another, or takes what another offers, names one that there is', (t) => {
  const names = new Set(FACTS.map(({ actor }) => actor));
  const offered = new Set(FACTS.flatMap(({ placement }) => Object.keys(placement?.offers ?? {})));
  for (const { actor, placement } of FACTS) {
    const { beside, takes = [] } = placement ?? {};
    if (beside !== undefined) t.true(names.has(beside.actor), actor);
    for (const place of takes) t.true(offered.has(place), actor);
  }
});

test('a ref has the protocol of the actor it is asked for: that this compiles is the test', (t) => {
  const asked: string[] = [];
  const ref = { ask: () => new Promise(() => {}), tell: () => 'queued' };
  const context = {
    ref: (actor: string) => {
      asked.push(actor);
      return ref;
    },
  } as unknown as ActorContext;
  const store: Ref<StoreProtocol> = context.ref('store');
  const { deadlineMs } = { deadlineMs: 1 };
  void store.ask({ type: 'compact', upToRevision: 1 }, { deadlineMs }).then((reply) => reply.compactedRevision);
  // @ts-expect-error: no actor is called so.
  context.ref('shop');
  // @ts-expect-error: the hub does not commit.
  void context.ref('hub').ask({ type: 'commit', transactions: [], payload: new Uint8Array() }, { deadlineMs });
  // @ts-expect-error: nor does anybody tell it of audit records.
  context.ref('hub').tell({ type: 'record' });
  t.deepEqual(asked, ['store', 'shop', 'hub', 'hub']);
});
