// The stored records as Protobuf, shared by the actors of a thread that send them: what one encodes the others find. Shared
// memory in all but name: docs/RUNTIME.md ("What the actors of a thread share") says why that is safe.
import { DIALECTS } from '../config/dialect.ts';
import { ProtobufRecords } from '../rendering/protobuf-records.ts';
import type { ActorContext } from '../runtime/actor.ts';
import type { ServerSettings } from './server-settings.ts';

/** The Protobuf records of the thread, made by whoever asks first. */
export function threadRecords(context: ActorContext, { dialect, options }: ServerSettings): ProtobufRecords {
  return context.threadLocal(
    'protobuf-records',
    () => new ProtobufRecords(DIALECTS[dialect], options.encodingCacheBytes),
  );
}
