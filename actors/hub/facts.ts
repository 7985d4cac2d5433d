// What is known of the hub without its code (runtime/actor-facts.ts).
import type { ActorFacts } from '../../runtime/actor-facts.ts';
import { FEED_FORMS } from '../following/store-feed-forms.ts';
import { HUB_RANGES, HUB_SETTINGS } from './settings.ts';

export const HUB_FACTS = {
  actor: 'hub',
  mailboxMax: 20_000,
  stopOrder: 80,
  flat: FEED_FORMS,
  settings: HUB_SETTINGS,
  ranges: HUB_RANGES,
  placement: { takes: ['reader'] },
} as const satisfies ActorFacts;
