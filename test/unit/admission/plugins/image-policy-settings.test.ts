// The settings of ImagePolicyWebhook.
import test from 'ava';
import { readImagePolicy } from '../../../../actors/admission/plugins/image-policy-webhook/configuration.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { ServiceConnection } from '../../../../transport/outgoing/connection-file.ts';
import { NO_FILES } from './no-files.ts';

const CONNECTION = { url: 'https://192.0.2.1' } as ServiceConnection;
const read = (content: unknown) =>
  readImagePolicy({ content, dialect: DIALECTS.orch, ...NO_FILES, connection: () => CONNECTION });
const policy = (more: object = {}) => ({ imagePolicy: { kubeConfigFile: 'c', ...more } });

test('what is left out is as usual, and times can be switched off', (t) => {
  t.deepEqual(read(policy()), {
    connection: CONNECTION,
    allowedMs: 300_000,
    refusedMs: 30_000,
    retryFirstMs: 500,
    allowsWithoutAnswer: false,
  });
  t.like(read(policy({ allowTTL: 50, denyTTL: -1, retryBackoff: 20, defaultAllow: true })), {
    allowedMs: 50_000,
    refusedMs: 0,
    retryFirstMs: 20,
    allowsWithoutAnswer: true,
  });
});

const refused: readonly [content: unknown, message: string][] = [
  [{}, 'imagePolicy: must be an object'],
  [{ imagePolicy: {} }, 'imagePolicy.kubeConfigFile: is required'],
  [policy({ allowTTL: 1801 }), 'imagePolicy.allowTTL: must be a whole number from 1 to 1800'],
  [policy({ denyTTL: '5s' }), 'imagePolicy.denyTTL: must be a whole number from 1 to 1800'],
  [policy({ retryBackoff: -2 }), 'imagePolicy.retryBackoff: must be a whole number from 1 to 300000'],
  [policy({ defaultAllow: 'yes' }), 'imagePolicy.defaultAllow: must be true or false'],
  [policy({ ttl: 1 }), 'imagePolicy.ttl: is an unknown field'],
];

for (const [content, message] of refused) {
  test(`${message}`, (t) => {
    t.throws(() => read(content), { message });
  });
}
