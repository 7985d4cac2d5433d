// What encryption tells of itself: values each way by provider, data keys made, failed and unwrapped.
import test from 'ava';
import { EncryptionMetrics } from '../../../../actors/store/encryption/encryption-metrics.ts';
import type { EncryptionProvider } from '../../../../config/encryption-configuration.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import type { KeyService } from '../../../../storage/encryption/kms-envelope.ts';
import { encryption, KMS, keyed, SECRET_KEY, storedForm } from './encryption-world.ts';

const IDENTITY: EncryptionProvider = { kind: 'identity' };
const WRITE = [{ operations: [{ key: SECRET_KEY }] }];

function measured(metrics: MetricsRegistry) {
  const family = (name: string) => metrics.reading().find((one) => one.name === `apiserver_storage_${name}`);
  return {
    value: (name: string) => family(name)?.series[0]?.value,
    observed: (name: string, type?: string) =>
      (family(name)?.series ?? [])
        .filter(({ labels }) => type === undefined || labels.transformation_type === type)
        .flatMap(({ counts = [] }) => counts)
        .reduce((total, count) => total + count, 0),
    operations: () =>
      Object.fromEntries(
        (family('transformation_operations_total')?.series ?? []).map(({ labels, value }) => [
          `${labels.transformation_type} ${labels.transformer_prefix} ${labels.status}`,
          value,
        ]),
      ),
  };
}

test('values are counted each way by their provider, and those that cannot be read as failures', async (t) => {
  const metrics = new MetricsRegistry();
  const measures = new EncryptionMetrics(metrics);
  const plain = storedForm(SECRET_KEY, 'text');
  const ours = encryption([keyed('aesgcm', 'one', 1), IDENTITY], { measures });
  const sealed = ours.seal(SECRET_KEY, plain);
  await ours.open(SECRET_KEY, sealed);
  await ours.open(SECRET_KEY, plain);
  t.throws(() => encryption([keyed('aesgcm', 'one', 2)], { measures }).open(SECRET_KEY, sealed));
  t.throws(() => encryption([IDENTITY], { measures }).open(SECRET_KEY, sealed));
  const { operations, observed } = measured(metrics);
  t.deepEqual(operations(), {
    'to_storage orch:enc:aesgcm:v1: OK': 1,
    'from_storage orch:enc:aesgcm:v1: OK': 1,
    'from_storage identity OK': 1,
    'from_storage orch:enc:aesgcm:v1: Unknown': 1,
    'from_storage unknown Unknown': 1,
  });
  t.is(observed('transformation_duration_seconds', 'to_storage'), 1);
  t.is(observed('transformation_duration_seconds', 'from_storage'), 2);
});

test('data keys that are made, that cannot be made and that have to be unwrapped are counted', async (t) => {
  const metrics = new MetricsRegistry();
  const measures = new EncryptionMetrics(metrics);
  let isAway = true;
  const service: KeyService = {
    async encrypt(plain) {
      if (isAway) throw new Error('away');
      return Buffer.from(plain);
    },
    decrypt: async (wrapped) => Buffer.from(wrapped),
    close() {},
  };
  const writer = encryption([KMS], { service, measures });
  const { operations, observed, value } = measured(metrics);
  await t.throwsAsync(async () => writer.readyFor(WRITE));
  t.is(value('data_key_generation_failures_total'), 1);
  t.is(observed('data_key_generation_duration_seconds'), 0);
  isAway = false;
  await writer.readyFor(WRITE);
  t.is(value('data_key_generation_failures_total'), 1);
  t.is(observed('data_key_generation_duration_seconds'), 1);
  const sealed = writer.seal(SECRET_KEY, storedForm(SECRET_KEY, 'text'));
  await writer.open(SECRET_KEY, sealed);
  t.is(value('envelope_transformation_cache_misses_total'), 0);
  const reader = encryption([KMS], { service, measures });
  await reader.open(SECRET_KEY, sealed);
  await reader.open(SECRET_KEY, sealed);
  t.is(value('envelope_transformation_cache_misses_total'), 1);
  const kept = metrics.reading().find(({ name }) => name === 'apiserver_envelope_encryption_dek_cache_fill_percent');
  t.is(kept?.series[0]?.value, 0.1, 'one key of ten');
  t.deepEqual(operations(), { 'to_storage orch:enc:kms:v1:k: OK': 1, 'from_storage orch:enc:kms:v1:k: OK': 3 });
});
