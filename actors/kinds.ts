// What is known of each kind of actor without loading its code: enough to resolve a placement, so that the main thread
// starts the others without reading what only they run. The roster's kinds say the same (a test compares).
import type { KindFacts } from '../runtime/plan.ts';
import { HUB_SETTINGS } from './hub/settings.ts';
import { SCHEDULER_SETTINGS } from './scheduler/settings.ts';
import { STORE_SETTINGS } from './store/settings.ts';

export const KINDS: readonly KindFacts[] = [
  { kind: 'ingress', mailboxMax: 20_000, stopOrder: 10 },
  { kind: 'auth', mailboxMax: 20_000, stopOrder: 70 },
  { kind: 'audit', mailboxMax: 16_384, stopOrder: 90 },
  { kind: 'admission', mailboxMax: 5000, stopOrder: 40 },
  { kind: 'hub', mailboxMax: 20_000, stopOrder: 80, settings: HUB_SETTINGS },
  { kind: 'store', mailboxMax: 20_000, stopOrder: 90, settings: STORE_SETTINGS },
  { kind: 'scheduler', mailboxMax: 1024, stopOrder: 20, settings: SCHEDULER_SETTINGS },
  { kind: 'controllers', mailboxMax: 4096, stopOrder: 20 },
];
