// Streams a snapshot of the store to a superuser: what `orch store snapshot` asks for. The stored forms travel as they lie,
// encrypted where they are.

import { SUPERUSERS } from '../../../api/authorization/attributes.ts';
import { forbiddenPath, internalError } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { Clock, Timers } from '../../../runtime/environment.ts';
import { SNAPSHOT_FORMAT, snapshotHeader } from '../../../storage/upkeep/snapshot-file.ts';
import type { StoreProtocol } from '../../store/protocol.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { SNAPSHOT_PATH } from '../protocol.ts';
import { inTime } from '../reads/answer-time.ts';
import { headersFor } from '../reads/answers.ts';
import { pacedWriter } from '../reads/paced-writer.ts';

export interface SnapshotParts {
  readonly store: Ref<StoreProtocol>;
  readonly clock: Clock;
  readonly dialect: string;
  /** `--store-prefix`, without a closing slash: a restored store belongs to the same. */
  readonly storePrefix: string;
  /** For the store to answer each step, and for the client to take it: a snapshot may be as long as the store. */
  readonly timeoutMs: number;
}

/** Answers with the snapshot of now. An answer that cannot be finished is cut off, which its reader notices. */
export async function sendSnapshot(
  exchange: Exchange,
  parts: SnapshotParts,
  timers: Pick<Timers, 'after'>,
): Promise<void> {
  const { user, response } = exchange;
  if (!user.groups.includes(SUPERUSERS)) {
    throw new StatusError(
      forbiddenPath(`User "${user.name}" cannot get path "${SNAPSHOT_PATH}": it is for superusers`),
    );
  }
  const { store, clock, dialect, storePrefix, timeoutMs } = parts;
  const limits = { deadlineMs: timeoutMs, requestNumber: exchange.requestNumber };
  const opened = await store.ask({ type: 'openSnapshot' }, limits);
  if ('refused' in opened) throw new StatusError(internalError(opened.refused));
  const { id, revision, objects, digest } = opened;
  try {
    exchange.start(200, headersFor('application/octet-stream'));
    const paced = pacedWriter(exchange);
    const write = (piece: Uint8Array): Promise<void> => inTime(paced(piece), exchange, timers, timeoutMs);
    const wallMs = clock.nowMs();
    const header = { snapshotFormat: SNAPSHOT_FORMAT, dialect, prefix: storePrefix, revision, objects, digest, wallMs };
    await write(snapshotHeader(header));
    while (!response.aborted) {
      const { payload } = await store.ask({ type: 'readSnapshot', id }, limits);
      if (payload.byteLength === 0) break;
      await write(payload);
    }
    response.end();
  } finally {
    store.tell<'closeSnapshot'>({ type: 'closeSnapshot', id });
  }
}
