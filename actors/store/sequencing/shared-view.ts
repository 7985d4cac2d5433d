// The state of a shared engine at one revision, as a snapshot has it: values that say their versions, without those of objects
// that are gone.

import { unreadable } from '../../../storage/encryption/sealed-value.ts';
import type { EngineView } from '../../../storage/engines/local-engine.ts';
import type { SharedEngine } from '../../../storage/engines/shared-engine.ts';
import { valueAtRevision } from '../../../storage/etcd/value-at-revision.ts';
import { storedRevision } from '../../../storage/forms/stored-value.ts';
import { DYING_PLACE, type VersionNumbers } from '../log/version-numbers.ts';

/** `next` is empty at the end, and rejects where the revision was compacted meanwhile. */
export function sharedView(engine: SharedEngine, engineRevision: number, numbers: VersionNumbers): EngineView {
  const view = engine.view(engineRevision);
  const next: EngineView['next'] = async () => {
    for (let page = await view.next(); page.length > 0; page = await view.next()) {
      const living = page.flatMap(({ key, modRevision, value }) => {
        const place = storedRevision(key, value);
        if (place === undefined) throw unreadable(key, 'it does not match its checksum');
        if (place >= DYING_PLACE) return [];
        return [[key, valueAtRevision(key, value, numbers.version(modRevision, place))] as const];
      });
      if (living.length > 0) return living;
    }
    return [];
  };
  return { next, close: () => Promise.resolve() };
}
