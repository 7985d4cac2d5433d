// The Dangling condition of flow schemas.
import test from 'ava';
import { FlowSchemas } from '../../../actors/controllers/fairness/flow-schemas.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { DIALECT } from './fixture.ts';

const GROUP = DIALECT.spell('flowcontrol.apiserver.@group');

class Watched {
  readonly time = new VirtualTime();
  readonly due = new Set<string>();
  readonly controller: FlowSchemas;
  #revision = 0;

  constructor() {
    this.controller = new FlowSchemas(this.time, { add: (key) => this.due.add(key) }, DIALECT);
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
