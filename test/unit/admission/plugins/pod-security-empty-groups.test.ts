// A pod that says it has no supplemental groups, which is stored as if it said nothing: which policy it is taken under.
import test from 'ava';
import { AdmissionWorld } from '../admission-world.ts';
import { PODS, podOf } from './plugin-cases.ts';
import { policy, TABLE } from './pod-security.ts';

const MUST = { rule: 'MustRunAs', ranges: [{ min: 10, max: 20 }] };

test('PodSecurityPolicy: a pod that says it has no further groups is taken under a policy that lets it, and gets none', async (t) => {
  const world = await AdmissionWorld.start(TABLE);
  await world.created(...policy({ supplementalGroups: MUST }, {}, 'a'));
  await world.created(...policy({ fsGroup: MUST }, {}, 'b'));
  const asked = podOf({ securityContext: { supplementalGroups: [] } });
  const { body } = await world.write('create', PODS, { body: asked });
  t.is(body.metadata.annotations?.['orch.io/psp'], 'b');
  t.is(
    (body.spec as { securityContext: { supplementalGroups?: unknown } }).securityContext.supplementalGroups,
    undefined,
  );
  await world.stop();
});
