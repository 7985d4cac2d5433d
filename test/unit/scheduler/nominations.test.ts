// Room that pods were promised on nodes: who must leave it, who loses it, and what takes it back.
import test from 'ava';
import { Nominations } from '../../../actors/scheduler/core/nominations.ts';
import type { PodInfo } from '../../../actors/scheduler/pods/pod-info.ts';
import { podInfo } from './objects.ts';

const pod = (name: string, priority = 0, nominatedNode = ''): PodInfo =>
  ({ ...podInfo(name, { spec: { priority } }), nominatedNode }) as PodInfo;
const namesOf = (pods: readonly PodInfo[]): string[] => pods.map(({ name }) => name);

test('a pod leaves room for others of its priority or more, and not for itself', (t) => {
  const nominations = new Nominations();
  for (const [name, priority] of [
    ['less', 1],
    ['same', 2],
    ['more', 3],
  ] as const)
    nominations.set(pod(name, priority), 'n');
  nominations.set(pod('elsewhere', 3), 'm');
  t.deepEqual(namesOf(nominations.before(pod('it', 2), 'n')), ['same', 'more']);
  t.deepEqual(namesOf(nominations.before(pod('same', 2), 'n')), ['more']);
  t.deepEqual(namesOf(nominations.below(pod('it', 2), 'n')), ['less']);
});

test('who is promised room takes it from those of less priority, whose promises are over', (t) => {
  const nominations = new Nominations();
  for (const [name, priority] of [
    ['less', 1],
    ['same', 2],
  ] as const)
    nominations.set(pod(name, priority), 'n');
  const order = nominations.order(pod('it', 2), { node: 'n', victims: [] });
  t.deepEqual(namesOf(order?.displaced ?? []), ['less']);
  t.is(nominations.nodeFor(pod('less').key), undefined);
  t.is(nominations.nodeFor(pod('same').key), 'n');
  t.is(nominations.nodeFor(pod('it').key), 'n');
  t.is(nominations.size, 2);
});

test('a promise is over when the pod no longer tells of it, and stands while it does not tell of it yet', (t) => {
  const nominations = new Nominations();
  nominations.set(pod('it'), 'n');
  nominations.renew(pod('it'), pod('it'));
  t.is(nominations.nodeFor(pod('it').key), 'n', 'not told of yet');
  nominations.renew(pod('it', 0, 'n'), pod('it'));
  t.is(nominations.nodeFor(pod('it').key), 'n');
  nominations.renew(pod('it'), pod('it', 0, 'n'));
  t.is(nominations.nodeFor(pod('it').key), undefined, 'taken back');
  nominations.renew(pod('it', 0, 'm'), pod('it'));
  t.is(nominations.nodeFor(pod('it').key), 'm', 'promised by somebody else');
});

test('a promise is taken back where there was one, as far as is known here or the pod tells', (t) => {
  const nominations = new Nominations();
  const none = { node: '', victims: [] };
  t.is(nominations.order(pod('it'), none), undefined);
  t.deepEqual(nominations.order(pod('it', 0, 'n'), none), { ...none, displaced: [] });
  nominations.set(pod('it'), 'n');
  t.deepEqual(nominations.order(pod('it'), none), { ...none, displaced: [] });
  t.is(nominations.nodeFor(pod('it').key), undefined);
  t.is(nominations.size, 0);
});

test('another pod under the name of one that was promised room is promised none', (t) => {
  const nominations = new Nominations();
  nominations.set(pod('it'), 'n');
  const other = { ...pod('it'), uid: 'other' } as PodInfo;
  nominations.renew(other, pod('it'));
  t.is(nominations.nodeFor(pod('it').key), undefined);
  nominations.renew(pod('free'), undefined);
  t.is(nominations.size, 0);
});

test('the nodes of a promise hear of it, and room is left unless the pod has taken it', (t) => {
  const heard: string[] = [];
  const nominations = new Nominations({
    onNode: (name) => heard.push(name),
    onRoomLeft: () => heard.push('left'),
  });
  const told = (): readonly string[] => heard.splice(0);
  nominations.set(pod('it'), 'n');
  t.deepEqual(told(), ['n']);
  nominations.set(pod('it'), 'n');
  t.deepEqual(told(), ['n', 'n'], 'it may demand something else now');
  nominations.set(pod('it'), 'm');
  t.deepEqual(told(), ['n', 'left', 'm']);
  t.deepEqual(namesOf(nominations.before(pod('other'), 'n')), []);
  nominations.remove(pod('it').key, 'm');
  t.deepEqual(told(), ['m']);
  nominations.remove(pod('it').key);
  t.deepEqual(told(), []);
});
