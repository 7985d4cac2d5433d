// What is known of the store without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import { READER_SLOTS } from '../../storage/shared-state.ts';
import { STORE_FORMS } from './flat-forms.ts';
import { STORE_RANGES, STORE_SETTINGS } from './settings.ts';

export const STORE_FACTS = {
  actor: 'store',
  mailboxMax: 20_000,
  stopOrder: 90,
  flat: STORE_FORMS,
  settings: STORE_SETTINGS,
  ranges: STORE_RANGES,
  placement: {
    isSingle: true,
    absence: { isRefused: true, means: 'nothing can be kept' },
    offers: { reader: READER_SLOTS },
  },
} as const satisfies ActorFacts;
