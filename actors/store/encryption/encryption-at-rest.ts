// The encryption of stored values as a server's settings ask for it. Loaded only where it is configured.
import type { Registry } from '../../../api/resources/registry.ts';
import type { ResourceEncryption } from '../../../config/encryption-configuration.ts';
import type { Environment } from '../../../runtime/environment.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';
import { KmsClient } from '../../../storage/encryption/kms-client.ts';
import { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import { EncryptionMetrics } from './encryption-metrics.ts';

/** Takes randomness, time and timers from the environment; what it costs is measured where there are metrics. */
export function encryptionFor(
  entries: readonly ResourceEncryption[],
  registry: Registry,
  { random, clock, timers }: Environment,
  metrics?: Metrics,
): StoredEncryption {
  return new StoredEncryption(entries, {
    freshBytes: (count) => random.bytes(count),
    monotonicMs: () => clock.monotonicMs(),
    keyService: (provider) => new KmsClient(provider, timers),
    prefix: registry.dialect.encryptionPrefix,
    measures: metrics && new EncryptionMetrics(metrics),
    storageKeyOf: (resource) => storageKeyOf(registry, resource),
  });
}

/** Where objects of `secrets` or `deployments.apps` are kept; types that are not known yet are kept under their own name. */
function storageKeyOf(registry: Registry, resource: string): string {
  const dot = resource.indexOf('.');
  const plural = dot < 0 ? resource : resource.slice(0, dot);
  const group = dot < 0 ? '' : resource.slice(dot + 1);
  const type = registry.known().find((known) => known.persisted && known.group === group && known.plural === plural);
  return type?.storageKey ?? `${group === '' ? 'core' : group}/${plural}`;
}
