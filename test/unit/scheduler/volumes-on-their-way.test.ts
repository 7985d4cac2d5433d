// Volumes that pods on their way to a node have taken, and who waits for them.
import test from 'ava';
import { newCore, node, pod } from './objects.ts';
import { CLAIMS, CLASSES, claim, storageClass, using, VOLUMES, volume } from './plugins/volume-objects.ts';

const NOW = 0;
/** After any backoff, and before pods are tried again without a reason. */
const LATER = 20_000;

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
