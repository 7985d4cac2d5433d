// What is decoded is counted for the whole process: serial, so that nothing else runs meanwhile.
import test from 'ava';
import { decodedCount } from '../../../storage/forms/stored-json.ts';
import { AdmissionWorld } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';

test.serial('a DELETE goes by metadata where that says all, and stores the object with its marks', async (t) => {
  const world = await AdmissionWorld.start();
  const metadata = { name: 'a', labels: { a: 'b' }, annotations: { text: 'é "managedFields":[ 😀', more: '\\' } };
  const created = await world.created(PODS, { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const { uid } = (await world.created(CONFIG_MAPS, { metadata })).metadata;
  const before = decodedCount();
  const answer = await world.write('delete', `${PODS}/a`);
  const { deletionTimestamp, resourceVersion } = answer.body.metadata;
  t.deepEqual(answer.body, {
    ...created,
    metadata: { ...created.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0, resourceVersion },
  });
  t.is((await world.write('delete', `${CONFIG_MAPS}/a`, { body: { preconditions: { uid } } })).code, 200);
  t.is(decodedCount(), before);
  await world.stop();
});
