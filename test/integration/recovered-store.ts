// A store's directory as a server would find it at its next start: recovered by the server's own code, without a server.
import type { CurrentRecord } from '../../actors/store/log/current-records.ts';
import { recover } from '../../actors/store/log/recovery.ts';
import { RevisionLog } from '../../actors/store/log/revision-log.ts';
import { LevelEngine } from '../../storage/level/level-engine.ts';
import { SlabPool } from '../../storage/records/slab-pool.ts';
import { NO_SLAB, type Slab } from '../../storage/records/slab-record.ts';
import { SharedState } from '../../storage/shared-state.ts';
import { windowEvents } from '../unit/store/window-events.ts';

export interface RecoveredStore<Record> {
  readonly revision: number;
  readonly compactedRevision: number;
  /** By key. */
  readonly current: ReadonlyMap<string, Record>;
  /** The history window, oldest first. */
  readonly events: readonly { readonly version: Record; readonly previous: Record | undefined }[];
}

/** Opens, recovers and closes the store. Throws OrchError StoreUnusable where a server would refuse to start. */
export async function recoveredStore<Record>(
  directory: string,
  read: (slab: Slab, offset: number) => Record,
): Promise<RecoveredStore<Record>> {
  const pool = new SlabPool(1024 * 1024, new SharedState());
  const log = new RevisionLog(pool, 'protobuf');
  const engine = new LevelEngine({ directory, prefix: '/registry', dialect: 'orch' });
  try {
    await recover(log, pool, engine, await engine.open());
  } finally {
    await engine.close();
  }
  const at = (slab: number, offset: number): Record => read(pool.slab(slab), offset);
  const current = ({ slab, offset }: CurrentRecord): Record => at(slab, offset);
  return {
    revision: log.revision,
    compactedRevision: log.compactedRevision,
    current: new Map([...log.current.keys()].map((key) => [key, current(log.current.get(key)!)])),
    events: windowEvents(log.window).map(({ slab, offset, previousSlab, previousOffset }) => ({
      version: at(slab, offset),
      previous: previousSlab === NO_SLAB ? undefined : at(previousSlab, previousOffset),
    })),
  };
}
