// The hub as part of the server: its options, out of the server's settings.
import { storedFieldsIn } from '../../api/resources/registry.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { type DefineActor, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { threadRecords } from '../thread-records.ts';
import { threadCatalog, threadRemoteGroups } from '../thread-registry.ts';
import { watchWindows } from './caches/windows.ts';
import { type HubOptions, hubActor } from './hub.ts';

export const define: DefineActor = () => withSettings(hubActor, hubOptions);

function hubOptions(settings: ServerSettings, context: ActorContext): HubOptions {
  const types = threadCatalog(context, settings);
  const { registry } = types;
  return {
    types: [types, threadRemoteGroups(context, settings)],
    selectableFields: (storageKey) => storedFieldsIn(registry, storageKey),
    windows: watchWindows(settings.options),
    initialEventsEndAnnotation: registry.dialect.spell('@group/initial-events-end'),
    records: threadRecords(context, settings),
  };
}
