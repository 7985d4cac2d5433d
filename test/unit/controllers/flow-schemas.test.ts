// The Dangling condition of flow schemas, and who is told of what requests go by.
import test from 'ava';
import { FlowAnnouncer } from '../../../actors/controllers/fairness/flow-announcer.ts';
import { FlowSchemas } from '../../../actors/controllers/fairness/flow-schemas.ts';
import type { FlowObjects } from '../../../actors/ingress/protocol.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { DIALECT } from './fixture.ts';

const GROUP = DIALECT.spell('flowcontrol.apiserver.@group');

class Watched {
  readonly time = new VirtualTime();
  readonly due = new Set<string>();
  published = 0;
  readonly controller: FlowSchemas;
  #revision = 0;

  constructor() {
    this.controller = new FlowSchemas(this.time, { add: (key) => this.due.add(key) }, DIALECT, () => this.published++);
  }

  #event(type: FeedEvent['type'], plural: string, name: string, object: Record<string, unknown>): void {
    const event = { type, storageKey: `${GROUP}/${plural}`, namespace: '', name, revision: ++this.#revision };
    this.controller.onEvent({ ...event, object: () => object } as FeedEvent);
  }

  schema(name: string, level: string, { generation = 1, conditions = [] as readonly object[] } = {}): void {
    const spec = { priorityLevelConfiguration: { name: level } };
    this.#event('put', 'flowschemas', name, {
      metadata: { name, uid: name, generation },
      spec,
      status: { conditions },
    });
  }

  level(name: string): void {
    const metadata = { name, uid: name, generation: 1 };
    this.#event('put', 'prioritylevelconfigurations', name, { metadata, spec: {} });
  }

  withoutLevel(name: string): void {
    this.#event('delete', 'prioritylevelconfigurations', name, {});
  }

  /** What would be written of a schema; undefined: nothing. */
  condition(name: string): Record<string, unknown> | undefined {
    const [write] = this.controller.plan(name).writes;
    const body = write?.body as { status: { conditions: Record<string, unknown>[] } } | undefined;
    return body?.status.conditions.at(-1);
  }
}

test('a schema is dangling while its level is not there, since when it changed', (t) => {
  const watched = new Watched();
  watched.schema('s', 'l');
  watched.controller.onSynced();
  t.deepEqual([...watched.due], ['s']);
  const dangling = watched.condition('s')!;
  t.like(dangling, {
    type: 'Dangling',
    status: 'True',
    reason: 'NotFound',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const other = { type: 'Other', status: 'True' };
  watched.schema('s', 'l', { conditions: [dangling, other] });
  t.is(watched.condition('s'), undefined);
  watched.schema('s', 'm', { generation: 2, conditions: [dangling, other] });
  t.like(watched.condition('s'), { status: 'True', lastTransitionTime: dangling.lastTransitionTime as string });
  watched.due.clear();
  watched.level('m');
  t.deepEqual([...watched.due], ['s']);
  t.like(watched.condition('s'), { status: 'False', reason: 'Found' });
  const [write] = watched.controller.plan('s').writes;
  t.deepEqual((write!.body as { status: { conditions: unknown[] } }).status.conditions[0], other);
  watched.due.clear();
  watched.withoutLevel('m');
  t.deepEqual([...watched.due], ['s']);
});

test('changes of specs are told, those of a status are not, and nothing is before all is known', (t) => {
  const watched = new Watched();
  watched.schema('s', 'l');
  t.is(watched.controller.objects, undefined);
  t.is(watched.published, 0);
  watched.controller.onSynced();
  t.is(watched.published, 1);
  watched.schema('s', 'l', { conditions: [{ type: 'Dangling' }] });
  t.is(watched.published, 1);
  watched.schema('s', 'm', { generation: 2 });
  watched.level('m');
  t.is(watched.published, 3);
  const { schemas, levels } = watched.controller.objects!;
  t.deepEqual([schemas.length, levels.length], [1, 1]);
  t.deepEqual(Object.keys(schemas[0]!), ['metadata', 'spec']);
  watched.controller.reset();
  t.is(watched.controller.objects, undefined);
});

test('every ingress is told, again when it has started anew, and later where it had no room', async (t) => {
  const time = new VirtualTime();
  const told: string[] = [];
  const full = new Set(['ingress/1']);
  const refs = ['ingress/0', 'ingress/1'].map((name) => ({
    name,
    tell: () => {
      if (full.has(name)) return 'full';
      told.push(name);
      return 'queued';
    },
  }));
  let objects: FlowObjects | undefined;
  const context = { timers: time, refs: () => refs } as unknown as ActorContext;
  const announcer = new FlowAnnouncer(context, () => objects);
  announcer.announce();
  await time.runUntilIdle();
  t.deepEqual(told, []);
  objects = { schemas: [], levels: [] };
  announcer.announce();
  announcer.announce();
  await time.runUntilIdle();
  t.deepEqual(told, ['ingress/0']);
  full.clear();
  await time.advance(1000);
  t.deepEqual(told, ['ingress/0', 'ingress/1']);
  announcer.peerRestarted('store');
  announcer.peerRestarted('ingress/0');
  await time.runUntilIdle();
  t.deepEqual(told, ['ingress/0', 'ingress/1', 'ingress/0']);
  full.add('ingress/1');
  announcer.announce();
  await time.runUntilIdle();
  announcer.stop();
  full.clear();
  await time.advance(10_000);
  t.is(told.length, 4);
});
