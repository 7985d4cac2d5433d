// What is measured of the graph of the node authorizer, under a clock that goes on by a millisecond whenever it is looked at.
import test from 'ava';
import { NodeAuthorizer } from '../../../actors/auth/authorizers/node.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { access } from '../api/authorization/access.ts';
import { fieldIsOf } from '../pod-fields.ts';

function event(type: FeedEvent['type'], storageKey: string, object: object = {}): FeedEvent {
  const mayHave = (name: Buffer): boolean => JSON.stringify(object).includes(name.toString());
  const read = { object: () => object, fieldIs: fieldIsOf(object), mayHave };
  const parts = { type, storageKey, namespace: 'ns', name: 'x', revision: 1, ...read };
  return parts as unknown as FeedEvent;
}

test('changes of the node graph are measured by what is done, and pods that are not bound are none', (t) => {
  const metrics = new MetricsRegistry();
  let nowMs = 0;
  const authorizer = new NodeAuthorizer(DIALECTS.orch, { metrics, clock: { monotonicMs: () => nowMs++ } });
  const attachments = authorizer.storageKeys.find((key) => key.endsWith('/volumeattachments'))!;
  const metadata = { name: 'x', namespace: 'ns' };
  authorizer.onEvent(event('put', 'core/pods', { metadata, spec: {} }));
  authorizer.onEvent(event('put', 'core/pods', { metadata, spec: { nodeName: 'n', containers: [] } }));
  authorizer.onEvent(event('delete', 'core/pods', { metadata, spec: { nodeName: 'n', containers: [] } }));
  for (const key of ['core/persistentvolumes', attachments, 'core/nodes']) {
    authorizer.onEvent(event('present', key, { metadata, spec: {} }));
    authorizer.onEvent(event('delete', key));
  }
  const family = metrics.reading().find(({ name }) => name === 'node_authorizer_graph_actions_duration_seconds');
  t.is(family?.kind, 'histogram');
  t.deepEqual(family?.bucketsUpTo?.slice(0, 2), [0.0001, 0.0002]);
  t.is(family?.bucketsUpTo?.length, 12);
  t.deepEqual(Object.fromEntries(family!.series.map(({ labels, value }) => [labels.operation, value])), {
    AddPod: 0.001,
    DeletePod: 0.001,
    AddPV: 0.001,
    DeletePV: 0.001,
    AddVolumeAttachment: 0.001,
    DeleteVolumeAttachment: 0.001,
    SetNodeConfigMap: 0.002,
  });
});

/** An authorizer, and whether by it the agent of the node `n` may read a secret. */
function following(): { authorizer: NodeAuthorizer; reads: (secret: string) => boolean } {
  const authorizer = new NodeAuthorizer(DIALECTS.orch, {
    metrics: new MetricsRegistry(),
    clock: { monotonicMs: () => 0 },
  });
  const node = { name: 'system:node:n', groups: ['system:nodes'], uid: '', extra: {} };
  const reads = (name: string): boolean =>
    authorizer.decide(node, access({ resource: 'secrets', namespace: 'ns', name })).decision === 'allow';
  return { authorizer, reads };
}

/** A container that reads a secret. */
const from = (secret: string): object => ({ name: 'c', envFrom: [{ secretRef: { name: secret } }] });

test('a bound pod is read again only when it has ephemeral containers, which may lead to more', (t) => {
  const { authorizer, reads } = following();
  const metadata = { name: 'x', namespace: 'ns' };
  const spec = { nodeName: 'n', containers: [from('first')] };
  const bound = { metadata, spec };
  authorizer.onEvent(event('put', 'core/pods', bound));
  t.true(reads('first'));
  const unread = { ...event('put', 'core/pods', { ...bound, status: {} }), object: () => t.fail('it was parsed') };
  authorizer.onEvent(unread as unknown as FeedEvent);
  t.true(reads('first'));
  t.false(reads('second'));
  authorizer.onEvent(event('put', 'core/pods', { metadata, spec: { ...spec, ephemeralContainers: [from('second')] } }));
  t.true(reads('second'));
  authorizer.onEvent(event('delete', 'core/pods', bound));
  t.false(reads('first'));
});

test('what pods led to is forgotten when their names are those of others that are not bound, and when all is read anew', (t) => {
  const { authorizer, reads } = following();
  const bound = { metadata: { name: 'x', namespace: 'ns' }, spec: { nodeName: 'n', containers: [from('first')] } };
  authorizer.onEvent(event('put', 'core/pods', bound));
  t.true(reads('first'));
  authorizer.onEvent(event('put', 'core/pods', { ...bound, spec: { containers: [from('first')] } }));
  t.false(reads('first'));
  authorizer.onEvent(event('put', 'core/pods', bound));
  t.true(reads('first'));
  authorizer.reset();
  t.false(reads('first'));
});
