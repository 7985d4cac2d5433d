// The pods that need a node: which is tried next, which wait for what, and until when.
import test from 'ava';
import { SchedulingQueue } from '../../../actors/scheduler/core/queue.ts';
import { ClusterEvent } from '../../../actors/scheduler/objects/cluster-event.ts';
import { prioritySort } from '../../../actors/scheduler/plugins/priority-sort.ts';
import { podInfo } from './objects.ts';

const SECOND = 1_000;

/** Names in the order in which they are popped until the active queue is empty. */
function drain(queue: SchedulingQueue): string[] {
  const names: string[] = [];
  for (let queued = queue.pop(); queued !== undefined; queued = queue.pop()) names.push(queued.pod.name);
  return names;
}

/** Pops the only active pod and finds no node for it. */
function fail(queue: SchedulingQueue, nowMs: number, helpedBy: number = ClusterEvent.any): void {
  queue.requeueUnschedulable(queue.pop()!, helpedBy, 0, nowMs);
}

test('pods are tried by priority, then by the time they were added, then by the order they came in', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('late'), 20);
  queue.set(podInfo('first'), 10);
  queue.set(podInfo('second'), 10);
  queue.set(podInfo('urgent', { spec: { priority: 1_000 } }), 30);
  queue.set(podInfo('idle', { spec: { priority: -1 } }), 1);
  t.deepEqual(drain(queue), ['urgent', 'first', 'second', 'late', 'idle']);
});

test('many that come at once are tried in the order in which they came', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  const names = Array.from({ length: 20 }, (_, at) => `p${at}`);
  for (const name of names) queue.set(podInfo(name), 0);
  t.deepEqual(drain(queue), names);
});

test('backoffs end in the order of their ends, and a change of what is demanded ends none', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('often'), 0);
  for (let attempt = 0; attempt < 3; attempt++) {
    queue.requeueBackoff(queue.pop()!, 0);
    if (attempt < 2) queue.flush(10 * SECOND, 1);
  }
  queue.set(podInfo('once'), 0);
  queue.requeueBackoff(queue.pop()!, 0);
  const changed = podInfo('once', { requests: { cpu: '1' } });
  queue.set(changed, 10);
  t.deepEqual(queue.counts(), { active: 0, backoff: 2, unschedulable: 0 });
  queue.flush(SECOND, 1);
  t.is(queue.peek(), changed);
  t.deepEqual(drain(queue), ['once']);
  queue.flush(4 * SECOND, 1);
  t.deepEqual(drain(queue), ['often']);
});

test('a pod whose priority changes takes its new place', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 1);
  queue.set(podInfo('b'), 2);
  queue.set(podInfo('b', { spec: { priority: 5 } }), 3);
  t.deepEqual(drain(queue), ['b', 'a']);
});

test('the backoff begins at a second, doubles with each attempt, and ends at ten', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  let nowMs = 0;
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    queue.requeueBackoff(queue.pop()!, nowMs);
    t.is(queue.nextFlushMs(), nowMs + seconds * SECOND);
    queue.flush(nowMs + seconds * SECOND - 1, 1);
    t.is(queue.counts().backoff, 1);
    nowMs += seconds * SECOND;
    queue.flush(nowMs, 1);
    t.deepEqual(queue.counts(), { active: 1, backoff: 0, unschedulable: 0 });
  }
});

test('an event moves an unschedulable pod through its backoff', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 100);
  queue.moveOnEvents(ClusterEvent.nodeAdded, 600, () => true);
  t.deepEqual(queue.counts(), { active: 0, backoff: 1, unschedulable: 0 });
  queue.flush(1_099, 1);
  t.is(queue.counts().active, 0);
  queue.flush(1_100, 1);
  t.is(queue.counts().active, 1);
});

test('an event after the backoff makes an unschedulable pod active at once', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 0);
  queue.moveOnEvents(ClusterEvent.podRemoved, 1_000, () => true);
  t.is(queue.counts().active, 1);
});

test('an event that cannot help a pod leaves it where it is', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 0, ClusterEvent.nodeAdded | ClusterEvent.nodeLabels);
  queue.moveOnEvents(ClusterEvent.podRemoved | ClusterEvent.nodeTaints, 5_000, () => true);
  t.is(queue.counts().unschedulable, 1);
  queue.moveOnEvents(ClusterEvent.nodeLabels, 5_000, () => true);
  t.is(queue.counts().active, 1);
});

test('a pod that has been unschedulable for a minute is tried again without a reason', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 500);
  t.is(queue.nextFlushMs(), 60_500);
  queue.flush(60_499, 1);
  t.is(queue.counts().unschedulable, 1);
  queue.flush(60_500, 1);
  t.is(queue.counts().active, 1);
});

test('a pod for which nothing has changed in the cluster goes on waiting, and is not tried again', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  queue.requeueUnschedulable(queue.pop()!, ClusterEvent.nodeAdded, 7, 0);
  queue.flush(60_000, 7);
  t.is(queue.counts().unschedulable, 1);
  t.is(queue.nextFlushMs(), 120_000);
  queue.flush(120_000, 8);
  t.is(queue.counts().active, 1);
});

test('a pod that anything could help is tried again after a minute, also where nothing that is seen has changed', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  queue.requeueUnschedulable(queue.pop()!, ClusterEvent.any, 7, 0);
  queue.flush(59_999, 7);
  t.is(queue.counts().unschedulable, 1);
  queue.flush(60_000, 7);
  t.is(queue.counts().active, 1);
});

test('only the pods that have waited for a minute are flushed', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 0);
  queue.set(podInfo('b'), 30_000);
  fail(queue, 30_000);
  queue.flush(60_000, 1);
  t.deepEqual(drain(queue), ['a']);
  t.is(queue.nextFlushMs(), 90_000);
});

test('an update that demands nothing else leaves an unschedulable pod there, with its new state', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 0);
  queue.set(podInfo('a', { metadata: { resourceVersion: '9' } }), 5_000);
  t.is(queue.counts().unschedulable, 1);
  t.is(queue.get('default/a')?.pod.resourceVersion, '9');
});

test('an update that demands something else tries an unschedulable pod again', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 0, ClusterEvent.nodeAdded);
  const changed = podInfo('a', { spec: { tolerations: [{ operator: 'Exists' }] } });
  queue.set(changed, 5_000);
  t.is(queue.counts().active, 1);
  t.is(queue.pop()?.pod, changed);
});

test('a pod that is to be tried now is so also when it comes to demand something else', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  queue.set(podInfo('a', { requests: { cpu: '1' } }), 0);
  t.deepEqual(queue.counts(), { active: 1, backoff: 0, unschedulable: 0 });
});

test('a pod that was popped and not tried keeps its turn and its count of attempts', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  for (const name of ['a', 'b']) queue.set(podInfo(name), 0);
  queue.putBack(queue.pop()!);
  t.is(queue.get('default/a')?.where, 'active');
  const queued = queue.pop();
  t.deepEqual([queued?.pod.name, queued?.attempts], ['a', 1]);
});

test('a pod is tried again when asked for while it waits for something, and at no other time', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('waiting'), 0);
  fail(queue, 0, ClusterEvent.nodeAdded);
  queue.set(podInfo('backing-off'), 0);
  queue.requeueBackoff(queue.pop()!, 0);
  queue.set(podInfo('active'), 0);
  for (const name of ['waiting', 'backing-off', 'active', 'never-seen']) queue.retry(`default/${name}`, 5_000);
  t.deepEqual(drain(queue).sort(), ['active', 'waiting']);
  t.deepEqual(queue.counts(), { active: 0, backoff: 1, unschedulable: 0 });
});

test('what is flushed next is the first backoff that ends, or the pod that has waited for a minute', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 0);
  queue.set(podInfo('b'), 0);
  queue.requeueBackoff(queue.pop()!, 10);
  t.is(queue.nextFlushMs(), 1_010);
  queue.remove('default/b');
  t.is(queue.nextFlushMs(), 60_000);
});

test('a pod that goes on waiting is behind those that have waited since', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  for (const [name, nowMs] of [
    ['a', 0],
    ['b', 10_000],
  ] as const) {
    queue.set(podInfo(name), nowMs);
    queue.requeueUnschedulable(queue.pop()!, ClusterEvent.nodeAdded, 7, nowMs);
  }
  queue.flush(60_000, 7);
  t.is(queue.nextFlushMs(), 70_000);
  queue.flush(70_000, 8);
  t.deepEqual(drain(queue), ['b']);
});

test('what comes into a queue is counted by the reason why', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  for (const name of ['a', 'b', 'c']) queue.set(podInfo(name), 0);
  fail(queue, 0, ClusterEvent.nodeAdded | ClusterEvent.podRemoved);
  fail(queue, 0, ClusterEvent.podRemoved);
  queue.requeueBackoff(queue.pop()!, 0);
  queue.moveOnEvents(ClusterEvent.nodeAdded | ClusterEvent.podRemoved, 500, () => true);
  queue.flush(1_000, 1);
  const count = {
    'active PodAdd': queue.incoming('active', 'PodAdd'),
    'unschedulable ScheduleAttemptFailure': queue.incoming('unschedulable', 'ScheduleAttemptFailure'),
    'backoff ScheduleAttemptFailure': queue.incoming('backoff', 'ScheduleAttemptFailure'),
    'backoff NodeAdd': queue.incoming('backoff', 'NodeAdd'),
    'backoff AssignedPodDelete': queue.incoming('backoff', 'AssignedPodDelete'),
    'active BackoffComplete': queue.incoming('active', 'BackoffComplete'),
    'active NodeAdd': queue.incoming('active', 'NodeAdd'),
  };
  t.deepEqual(Object.values(count), [3, 2, 1, 1, 1, 3, 0], JSON.stringify(count));
});

test('another pod under the same name begins anew', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 0);
  fail(queue, 0);
  queue.set(podInfo('a', { uid: 'other' }), 10);
  const queued = queue.pop();
  t.is(queued?.attempts, 1);
  t.is(queued?.firstQueuedMs, 10);
});

test('a removed pod is in none of the queues', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  for (const name of ['active', 'backoff', 'unschedulable']) queue.set(podInfo(name), 0);
  queue.pop();
  queue.requeueBackoff(queue.pop()!, 0);
  fail(queue, 0);
  queue.set(podInfo('active'), 0);
  t.deepEqual(queue.counts(), { active: 1, backoff: 1, unschedulable: 1 });
  for (const name of ['active', 'backoff', 'unschedulable', 'never seen']) queue.remove(`default/${name}`);
  t.deepEqual(queue.counts(), { active: 0, backoff: 0, unschedulable: 0 });
  t.is(queue.nextFlushMs(), undefined);
});

test('a pod that was put back keeps its attempts and the time it was first seen', (t) => {
  const queue = new SchedulingQueue(prioritySort);
  queue.set(podInfo('a'), 5);
  queue.requeueBackoff(queue.pop()!, 10);
  queue.flush(2_000, 1);
  const queued = queue.pop();
  t.is(queued?.attempts, 2);
  t.is(queued?.firstQueuedMs, 5);
});
