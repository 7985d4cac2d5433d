// The conversion of a world without webhooks: nobody asks for it.

import type { AdmissionProtocol } from '../../../actors/admission/protocol.ts';
import { OutsideConversion } from '../../../actors/ingress/outside-conversion.ts';
import type { AnswerForm, AnswerForms } from '../../../actors/ingress/reads/answer-forms.ts';
import type { Ref } from '../../../runtime/actor.ts';
import { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';

const nobody = { ask: () => Promise.reject(new Error('nobody converts here')) } as unknown as Ref<AdmissionProtocol>;

export const NO_CONVERSION = new OutsideConversion(nobody, 1000, realEnvironment.timers, new HeapRoom(0));

/** Of types that stay as they are. */
export const SAME_FORMS = {
  now: (_exchange: unknown, form: AnswerForm) => form,
  isOutdated: () => false,
} as unknown as AnswerForms;
