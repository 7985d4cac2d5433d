// The scale subresource: a Scale of a workload, and a workload scaled.
import test from 'ava';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { applyScale, scaleOf } from '../../../api/scale.ts';
import { isStatusError, type StatusReason } from '../../../api/status/status.ts';
import { frozen } from './sample-type.ts';

const deployments = { group: 'apps', plural: 'deployments' };

const stored = frozen({
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'u-1',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { a: 'b' },
  },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    paused: true,
  },
  status: { replicas: 2, readyReplicas: 1 },
});

test('a Scale tells the wish, the count and the selector, and identifies the object', (t) => {
  t.deepEqual(scaleOf(stored), {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'u-1',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { replicas: 3 },
    status: { replicas: 2, selector: 'app=web,tier' },
  });
});

test('a Scale tells a set of one value as a set, as it stands in the selector', (t) => {
  const expression = { key: 'tier', operator: 'In', values: ['front'] };
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' }, matchExpressions: [expression] } };
  t.deepEqual(scaleOf({ spec }).status, { replicas: 0, selector: 'app=web,tier in (front)' });
});

test('a Scale of a replication controller has its map as selector, and zero replicas are left out', (t) => {
  const scale = scaleOf({ metadata: { name: 'rc' }, spec: { replicas: 0, selector: { b: '2', a: '1' } } });
  t.deepEqual(scale.spec, {});
  t.deepEqual(scale.status, { replicas: 0, selector: 'a=1,b=2' });
  t.deepEqual(scaleOf({}).status, { replicas: 0 });
});

test('scaling changes the replicas and nothing else', (t) => {
  const scaled = applyScale(stored, { kind: 'Scale', metadata: { name: 'web' }, spec: { replicas: 5 } }, deployments);
  t.deepEqual(scaled, { ...stored, spec: { ...stored.spec, replicas: 5 } });
  t.is(applyScale(stored, { ...scaleOf(stored) }, deployments), stored);
});

test('a Scale without replicas scales to zero', (t) => {
  t.like(applyScale(stored, { metadata: {}, spec: {} }, deployments), { spec: { replicas: 0, paused: true } });
});

const REFUSED: readonly (readonly [scale: JsonObject, reason: StatusReason])[] = [
  [{ metadata: {}, spec: { replicas: -1 } }, 'Invalid'],
  [{ metadata: {}, spec: { replicas: 1.5 } }, 'Invalid'],
  [{ metadata: {}, spec: { replicas: 2 ** 31 } }, 'Invalid'],
  [{ metadata: {}, spec: { replicas: '3' } }, 'Invalid'],
  [{ metadata: { resourceVersion: '6' }, spec: { replicas: 1 } }, 'Conflict'],
  [{ metadata: { uid: 'u-2' }, spec: { replicas: 1 } }, 'Conflict'],
  [{ metadata: { name: 'other' }, spec: { replicas: 1 } }, 'BadRequest'],
  [{ metadata: { namespace: 'other' }, spec: { replicas: 1 } }, 'BadRequest'],
  [{ kind: 'Pod', metadata: {}, spec: { replicas: 1 } }, 'BadRequest'],
];

test('a Scale of the version 0 is of whichever version there is', (t) => {
  const scale = { metadata: { resourceVersion: '0' }, spec: { replicas: 1 } };
  t.like(applyScale(stored, scale, deployments), { spec: { replicas: 1 } });
});

test('a Scale of another object is refused in the words of any update', (t) => {
  const error = t.throws(() => applyScale(stored, { metadata: { uid: 'u-2' }, spec: { replicas: 1 } }, deployments));
  t.true(error.message.endsWith(': Precondition failed: UID in precondition: u-2, UID in object meta: u-1'));
});

test('a Scale that is wrong, stale or of another object is refused', (t) => {
  for (const [scale, reason] of REFUSED) {
    const error = t.throws(() => applyScale(stored, scale, deployments), undefined, JSON.stringify(scale));
    t.true(isStatusError(error, reason), `${JSON.stringify(scale)}: ${error?.message}`);
  }
});
