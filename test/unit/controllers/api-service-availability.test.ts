// What the metrics say of APIServices: whether the server behind each can be reached, as it is.
import test from 'ava';
import { ApiServiceAvailability } from '../../../actors/controllers/api-service-availability.ts';
import type { JsonObject } from '../../../api/json-value.ts';
import { MetricsRegistry } from '../../../runtime/metrics-registry.ts';
import type { FeedEvent } from '../../../storage/store-feed.ts';
import { DIALECT } from './fixture.ts';
import { VirtualTime } from './virtual-time.ts';

const GROUP = DIALECT.spell('apiregistration.@group');
const NAME = 'v1.x.test';
const GAUGE = 'aggregator_unavailable_apiservice';
const REMOTE = { service: { namespace: 'default', name: 'mine' }, caBundle: '' };

function event(type: FeedEvent['type'], spec: JsonObject): FeedEvent {
  const object = {
    apiVersion: `${GROUP}/v1`,
    kind: 'APIService',
    metadata: { name: NAME },
    spec: { group: 'x.test', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, ...spec },
  };
  return {
    type,
    storageKey: `${GROUP}/apiservices`,
    namespace: '',
    name: NAME,
    object: () => object,
  } as unknown as FeedEvent;
}

/** A controller whose servers cannot be reached. `told`: what the gauge says. */
function unreachable() {
  const metrics = new MetricsRegistry();
  const due = new Set<string>();
  const tryOne = () => Promise.resolve({ status: 'False', reason: 'ServiceNotFound', message: 'gone' } as const);
  const controller = new ApiServiceAvailability(new VirtualTime().clock, due, DIALECT, tryOne, metrics);
  const hear = async (type: FeedEvent['type'], spec: JsonObject): Promise<void> => {
    controller.onEvent(event(type, spec));
    controller.plan(NAME);
    await new Promise(setImmediate);
  };
  const told = () => metrics.reading().find(({ name }) => name === GAUGE)?.series[0]?.value;
  return { controller, hear, told };
}

test('one that another server answered for, and this one does now, is no longer told of as unavailable', async (t) => {
  const { hear, told } = unreachable();
  await hear('put', REMOTE);
  t.is(told(), 1);
  await hear('put', {});
  t.is(told(), 0);
});

test('neither is one that was changed just before it was deleted', async (t) => {
  const { controller, hear, told } = unreachable();
  await hear('put', REMOTE);
  t.is(told(), 1);
  controller.onEvent(event('put', { ...REMOTE, insecureSkipTLSVerify: true }));
  await hear('delete', REMOTE);
  t.is(told(), 0);
});

test('nor is one of which nothing is known any more, since the store is followed anew', async (t) => {
  const { controller, hear, told } = unreachable();
  await hear('put', REMOTE);
  t.is(told(), 1);
  controller.reset();
  t.is(told(), 0);
});
