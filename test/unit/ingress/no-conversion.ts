// The conversion of a world without webhooks: nobody asks for it.

import type { AdmissionProtocol } from '../../../actors/admission/protocol.ts';
import { OutsideConversion } from '../../../actors/ingress/outside-conversion.ts';
import type { Ref } from '../../../runtime/actor.ts';

const nobody = { ask: () => Promise.reject(new Error('nobody converts here')) } as unknown as Ref<AdmissionProtocol>;

export const NO_CONVERSION = new OutsideConversion(nobody, 1000);
