// How the controllers' writes are told to admission.
import test from 'ava';
import type { WriteRequest, WriteTarget } from '../../../actors/admission/protocol.ts';
import type { Identity } from '../../../actors/controllers/controller.ts';
import { Writer } from '../../../actors/controllers/writer.ts';
import type { ActorContext } from '../../../runtime/actor.ts';

const WHO: Identity = { user: { name: 'c', uid: '', groups: [], extra: {} }, userAgent: 'c' };
const TARGET: WriteTarget = {
  ...{ group: '', version: 'v1', resource: 'events', subresource: '' },
  ...{ namespace: 'default', name: 'a' },
};

test('writes of controllers are recorded, but for what no request does in Kubernetes', async (t) => {
  const asked: WriteRequest[] = [];
  const ask = async (message: WriteRequest) => {
    asked.push(message);
    return { code: 200, body: {} };
  };
  const context = { ref: () => ({ ask }) } as unknown as ActorContext;
  const writer = new Writer(context, { inFlightMax: 1, deadlineMs: 1 });
  await writer.write(WHO, { verb: 'delete', target: TARGET });
  await writer.write(WHO, { verb: 'delete', target: { ...TARGET, asStored: true } });
  t.deepEqual(
    asked.map(({ isInside = false }) => isInside),
    [true, false],
  );
});
