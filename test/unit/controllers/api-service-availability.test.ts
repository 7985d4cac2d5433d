// What the metrics say of APIServices: whether the server behind each can be reached, as it is.
import test from 'ava';
import { ApiServiceAvailability } from '../../../actors/controllers/extension/api-service-availability.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { DIALECT } from './fixture.ts';
import { VirtualTime } from './virtual-time.ts';

const GROUP = DIALECT.spell('apiregistration.@group');
const NAME = 'v1.x.test';
const GAUGE = 'aggregator_unavailable_apiservice';
const SPEC = { group: 'x.test', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
const REMOTE = { ...SPEC, service: { namespace: 'default', name: 'mine' } };

/** News of one of which its condition says so; undefined: it has none. */
function event(type: FeedEvent['type'], spec: JsonObject, available?: 'True' | 'False'): FeedEvent {
  const conditions = available === undefined ? [] : [{ type: 'Available', status: available }];
  const object = {
    apiVersion: `${GROUP}/v1`,
    kind: 'APIService',
    metadata: { name: NAME },
    spec,
    status: { conditions },
  };
  return {
    type,
    storageKey: `${GROUP}/apiservices`,
    namespace: '',
    name: NAME,
    object: () => object,
  } as unknown as FeedEvent;
}

/** A controller that has nothing to do, as where another server's does the work. `told`: what the gauge says. */
function resting() {
  const metrics = new MetricsRegistry();
  const due = { add: () => {} };
  const controller = new ApiServiceAvailability(new VirtualTime().clock, due, DIALECT, async () => undefined, metrics);
  const told = () => metrics.reading().find(({ name }) => name === GAUGE)?.series[0]?.value;
  return { controller, told };
}

/** One that finds every server away. */
function looking() {
  const metrics = new MetricsRegistry();
  const away = async () => ({ status: 'False', reason: 'ServiceNotFound', message: '' }) as const;
  const due = { add: () => {} };
  const controller = new ApiServiceAvailability(new VirtualTime().clock, due, DIALECT, away, metrics);
  return { controller, metrics, settled: () => new Promise((resolve) => setImmediate(resolve)) };
}

test('the gauge says what is stored, also of what another server has found', (t) => {
  const { controller, told } = resting();
  controller.onEvent(event('present', REMOTE));
  t.is(told(), undefined, 'nobody has looked yet');
  controller.onEvent(event('put', REMOTE, 'False'));
  t.is(told(), 1);
  controller.onEvent(event('put', REMOTE, 'True'));
  t.is(told(), 0);
});

test('an APIService that another server answered for, and this one does now, is available', (t) => {
  const { controller, told } = resting();
  controller.onEvent(event('put', REMOTE, 'False'));
  controller.onEvent(event('put', SPEC, 'True'));
  t.is(told(), 0);
});

test('one that is gone is not unavailable, and neither is one of which nothing is known any more', (t) => {
  for (const end of ['deleted', 'reset']) {
    const { controller, told } = resting();
    controller.onEvent(event('put', REMOTE, 'False'));
    t.is(told(), 1);
    if (end === 'deleted') controller.onEvent(event('delete', REMOTE, 'False'));
    else controller.reset();
    t.is(told(), end === 'deleted' ? undefined : 0, end);
  }
});

test('of APIServices that come and go no series stay, and of others they do', async (t) => {
  const { controller, metrics, settled } = looking();
  for (const name of ['v1.gone.test', 'v1.stays.test']) {
    controller.onEvent({ ...event('put', REMOTE, 'False'), name });
    controller.plan(name);
  }
  await settled();
  const names = () =>
    metrics.reading().flatMap(({ name, series }) => series.map(({ labels }) => `${name} ${labels.name}`));
  t.is(names().length, 4);
  controller.onEvent({ ...event('delete', REMOTE, 'False'), name: 'v1.gone.test' });
  t.deepEqual(names().sort(), [`${GAUGE} v1.stays.test`, `${GAUGE}_total v1.stays.test`]);
});
