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

  schema(name: string, level: string, { generation = 1, conditions = [] as readonly object[], uid = name } = {}): void {
    const spec = { priorityLevelConfiguration: { name: level } };
    this.#event('put', 'flowschemas', name, {
      metadata: { name, uid, generation },
      spec,
      status: { conditions },
    });
  }

  level(name: string): void {
    const metadata = { name, uid: name, generation: 1 };
    this.#event('put', 'prioritylevelconfigurations', name, { metadata, spec: {} });
  }

  withoutSchema(name: string): void {
    this.#event('delete', 'flowschemas', name, {});
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

test('the condition of a schema says of which level it speaks, and is written over the state that it was judged by', async (t) => {
  const watched = new Watched();
  watched.schema('s', 'l');
  watched.controller.onSynced();
  const said = 'This FlowSchema references the PriorityLevelConfiguration object named "l"';
  const dangling = watched.condition('s')!;
  t.is(dangling.message, `${said} but there is no such object`);
  watched.level('l');
  t.is(watched.condition('s')!.message, `${said} and it exists`);
  t.deepEqual(watched.controller.plan('s').writes, [
    {
      verb: 'patch',
      target: {
        group: GROUP,
        version: 'v1beta1',
        resource: 'flowschemas',
        subresource: 'status',
        namespace: '',
        name: 's',
      },
      parameters: { fieldManager: 'api-priority-and-fairness-config-consumer-v1' },
      body: { metadata: { resourceVersion: '1' }, status: { conditions: [watched.condition('s')] } },
    },
  ]);
  watched.withoutLevel('l');
  await watched.time.advance(60_000);
  watched.schema('s', 'l', { conditions: [{ ...dangling, reason: 'Other' }] });
  t.deepEqual(watched.condition('s'), dangling, 'it has been dangling since then');
  t.deepEqual(watched.controller.plan('gone'), { writes: [] });
});

test('a schema is looked at when it changes, and when its level comes or goes, not when that changes', (t) => {
  const watched = new Watched();
  watched.controller.onSynced();
  const due = (): string[] => {
    const keys = [...watched.due];
    watched.due.clear();
    return keys;
  };
  watched.schema('s', 'l');
  watched.schema('other', 'm');
  t.deepEqual(due(), ['s', 'other']);
  watched.level('l');
  t.deepEqual(due(), ['s']);
  watched.level('l');
  t.deepEqual(due(), []);
});

test('what has gone, or was made anew, is told as it is then', (t) => {
  const watched = new Watched();
  const names = () => watched.controller.objects!.schemas.map(({ metadata }) => metadata);
  watched.schema('a', 'l');
  watched.schema('b', 'l');
  watched.controller.onSynced();
  watched.withoutSchema('a');
  t.is(watched.published, 2);
  t.deepEqual(names(), [{ name: 'b', uid: 'b' }]);
  watched.schema('b', 'l', { uid: 'another' });
  t.is(watched.published, 3);
  t.deepEqual(names(), [{ name: 'b', uid: 'another' }]);
  watched.level('l');
  watched.controller.reset();
  watched.controller.onSynced();
  t.deepEqual(watched.controller.objects, { schemas: [], levels: [] });
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
  const messages: object[] = [];
  const full = new Set(['ingress/1']);
  const refs = ['ingress/0', 'ingress/1'].map((name) => ({
    name,
    tell: (message: object) => {
      if (full.has(name)) return 'full';
      told.push(name);
      messages.push(message);
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
  await time.advance(1000);
  t.is(told.length, 2);
  announcer.peerRestarted('ingress/0');
  await time.runUntilIdle();
  t.deepEqual(messages[0], { type: 'flowObjects', schemas: [], levels: [] });
  t.deepEqual(told, ['ingress/0', 'ingress/1', 'ingress/0']);
  full.add('ingress/1');
  announcer.announce();
  await time.runUntilIdle();
  announcer.stop();
  full.clear();
  await time.advance(10_000);
  t.is(told.length, 4);
});
