// The store as part of the server: its options, out of the server's settings.
import { DIALECTS } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import { type DefineActor, type OutsideWorld, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { threadRegistry } from '../thread-registry.ts';
import { StoredVersions } from './log/stored-versions.ts';
import { type StoreOptions, storeActor } from './store.ts';

export const define: DefineActor = (outside) =>
  withSettings(storeActor, (settings, context) => storeOptions(settings, context, outside));

function storeOptions(settings: ServerSettings, context: ActorContext, outside: OutsideWorld): StoreOptions {
  const { options, dialect, encryption, dataDirectory } = settings;
  const versions = new StoredVersions(() => threadRegistry(context, settings));
  const encrypted = async (): Promise<StoredEncryption> => {
    const { encryptionFor } = await import('./encryption/encryption-at-rest.ts');
    return encryptionFor(encryption ?? [], threadRegistry(context, settings), context, context.metrics);
  };
  return {
    ...(encryption === undefined ? {} : { encryption: encrypted }),
    engine: (context, opened) => outside.engine(settings, context, opened),
    media: options.storageMediaType === DIALECTS[dialect].protobufMediaType ? 'protobuf' : 'json',
    compactionIntervalMs: options.storeCompactionIntervalMs,
    healthcheckTimeoutMs: options.storeHealthcheckTimeoutMs,
    historyBytesMax: options.storeHistoryBytes,
    measures: {
      objectCountMs: options.storeCountMetricPollPeriodMs,
      diskSizeMs: options.storeDbMetricPollIntervalMs,
      storeName: DIALECTS[dialect].storeCheck,
      endpoint: dataDirectory,
    },
    currentVersion: (key, value) => versions.current(key, value),
  };
}
