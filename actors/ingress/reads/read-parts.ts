// What an ingress reads with: shared by what answers with objects and what answers with lists.
import type { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
import type { JobPool } from '../../../runtime/jobs/job-pool.ts';
import type { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import { ownTurn } from '../../../runtime/next-turn.ts';
import type { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import type { HubProtocol } from '../../hub/protocol.ts';
import type { OutsideConversion } from '../outside-conversion.ts';
import type { AnswerForms } from './answer-forms.ts';
import type { LongWork } from './piece-answer.ts';

export interface ReadParts {
  readonly hub: Ref<HubProtocol>;
  readonly slabs: ThreadSlabs;
  readonly records: ProtobufRecords;
  readonly requestTimeoutMs: number;
  readonly metaGroup: string;
  readonly timers: Timers;
  readonly jobs: JobPool;
  /** For large objects that are rendered. */
  readonly heapRoom: HeapRoom;
  readonly conversion: OutsideConversion;
  readonly forms: AnswerForms;
}

/** One long answer goes on in a turn, however many there are: hundreds of lists, each with a piece, would hold the thread up for seconds. */
export function longWorkOf({ timers, jobs, heapRoom }: Pick<ReadParts, 'timers' | 'jobs' | 'heapRoom'>): LongWork {
  return { pause: () => ownTurn(timers), jobs, heapRoom };
}
