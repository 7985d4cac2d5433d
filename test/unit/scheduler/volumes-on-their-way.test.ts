// Volumes that pods on their way to a node have taken, and who waits for them.
import test from 'ava';
import type { BindingEnd } from '../../../actors/scheduler/core/decision.ts';
import { boundPod, newCore, node, pod } from './objects.ts';
import { CLAIMS, CLASSES, claim, storageClass, using, VOLUMES, volume } from './plugins/volume-objects.ts';

const NOW = 0;
/** After any backoff, and before pods are tried again without a reason. */
const LATER = 20_000;

/** A pod without a node, of a claim that waits for it, and one node. */
function coreWithPod() {
  const core = newCore();
  core.setObject(CLASSES, '', 'slow', storageClass('slow', 'WaitForFirstConsumer'));
  core.setObject(CLAIMS, 'default', 'c', claim('c'));
  core.setNode('n', node('n'));
  core.setPod(pod('a', using('c')), NOW);
  core.advance(NOW);
  return core;
}

test('who found its volume taken is tried again when the pod that took it is gone', (t) => {
  const core = newCore();
  const noProvisioner = { provisioner: 'orch.io/no-provisioner' };
  core.setNode('n', node('n'));
  core.setObject(CLASSES, '', 'slow', storageClass('slow', 'WaitForFirstConsumer', noProvisioner));
  core.setObject(VOLUMES, '', 'v', volume('v'));
  for (const name of ['c', 'd']) core.setObject(CLAIMS, 'default', name, claim(name));
  core.setPod(pod('first', using('c')), NOW);
  core.setPod(pod('second', using('d')), NOW);
  core.advance(NOW);
  t.is(core.decide(NOW)?.kind, 'bind');
  t.is(core.decide(NOW)?.kind, 'unschedulable');

  core.removePod('default', 'first');
  core.advance(LATER);
  t.like(core.decide(LATER), { kind: 'bind', pod: { name: 'second' } });
});

for (const [what, end, isTold] of [
  ['before the event shows it', { bound: true }, 'first'],
  ['after the event has shown it', { bound: true }, 'last'],
  ['that nobody knows of, before the event shows it', { bound: false, reason: 'unanswered' }, 'first'],
  ['that failed, though the event has shown it', { bound: false, reason: 'failed', message: '' }, 'last'],
] as const satisfies readonly (readonly [string, BindingEnd, 'first' | 'last'])[]) {
  test(`a claim is free of what a pod had reserved for it once the pod is bound: an answer ${what}`, (t) => {
    const core = coreWithPod();
    const decision = core.decide(NOW);
    if (decision?.kind !== 'bind') return t.fail('the pod has no node');
    if (isTold === 'first') core.settleBinding(decision.pod, end, NOW);
    core.setPod(boundPod('a', 'n', using('c')), NOW);
    if (isTold === 'last') core.settleBinding(decision.pod, end, NOW);

    core.removePod('default', 'a');
    core.removeNode('n');
    core.setNode('m', node('m'));
    core.setObject(CLAIMS, 'default', 'c', claim('c', {}, { uid: 'another' }));
    core.setPod(pod('a', { uid: 'another', ...using('c') }), LATER);
    core.advance(LATER);
    t.like(core.decide(LATER), { kind: 'bind', node: { name: 'm' } });
  });
}

test('a claim is free of what a pod had reserved for it where another pod of its name is bound', (t) => {
  const core = coreWithPod();
  t.is(core.decide(NOW)?.kind, 'bind');
  core.setPod(boundPod('a', 'n', { uid: 'another' }), NOW);

  core.removeNode('n');
  core.setNode('m', node('m'));
  core.setPod(pod('b', using('c')), LATER);
  core.advance(LATER);
  t.like(core.decide(LATER), { kind: 'bind', node: { name: 'm' } });
});
