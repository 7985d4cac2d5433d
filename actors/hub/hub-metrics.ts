// What a hub says of itself when it is read.
import type { ProtobufRecords } from '../../rendering/protobuf-records.ts';
import type { Metrics } from '../../runtime/metrics/metrics.ts';
import { decodedCount } from '../../storage/forms/stored-json.ts';
import type { ReadGate } from './read-gate.ts';
import type { Watchers } from './watches/watchers.ts';

export interface MeasuredHub {
  readonly watchers: Watchers;
  readonly records: ProtobufRecords;
  readonly gate: ReadGate;
}

/** Has the hub's gauges set whenever somebody reads them. */
export function measureHub(metrics: Metrics, { watchers, records, gate }: MeasuredHub): void {
  metrics.beforeReading(() => {
    metrics.gauge('orch_hub_watchers', 'Open watches.').set(watchers.count);
    metrics.gauge('orch_hub_cohorts', 'Groups of open watches that see the same bytes.').set(watchers.cohorts.size);
    metrics.gauge('orch_hub_live_watchers', 'Open watches that are up to date.').set(watchers.liveCount);
    metrics.counter('orch_decoded_objects_total', 'Stored objects decoded on this thread.').set(decodedCount());
    metrics
      .gauge('orch_kept_encoding_bytes', 'Bytes of Protobuf encodings kept on this thread.')
      .set(records.keptBytes);
    metrics.gauge('orch_hub_applied_revision', 'The revision this hub has applied.').set(gate.applied);
  });
}
