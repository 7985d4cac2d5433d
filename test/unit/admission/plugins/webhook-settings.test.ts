// The settings of the plugins that call admission webhooks.
import test from 'ava';
import { readHookCredentials } from '../../../../actors/admission/plugins/webhooks/configuration.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { CredentialsByService } from '../../../../transport/outgoing/connection-file.ts';
import { NO_FILES } from './no-files.ts';

const HEAD = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'WebhookAdmissionConfiguration' };

test('the users of the file that is named are those whom webhooks are shown', (t) => {
  const named: CredentialsByService = { users: {}, standard: undefined };
  const credentials = (path: string) => (path === '/etc/hooks' ? named : NO_FILES.credentials(path));
  const read = (content: unknown) => readHookCredentials({ content, dialect: DIALECTS.orch, ...NO_FILES, credentials });
  t.is(read({ ...HEAD, kubeConfigFile: '/etc/hooks' }), named);
  for (const more of [{}, { kubeConfigFile: '' }, { kubeConfigFile: null }])
    t.throws(() => read({ ...HEAD, ...more }), { message: 'kubeConfigFile: is required' }, JSON.stringify(more));
});
