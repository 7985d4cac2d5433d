// The settings of both webhook plugins: a file whose users are named after the webhooks they are shown to.
import { ConfigurationError, membersOf, requireText, textOf } from '../../../../config/configuration-file.ts';
import type { CredentialsByService } from '../../../../transport/outgoing/connection-file.ts';
import type { ConfigurationFile } from '../plugin.ts';

/** In each of them a WebhookAdmissionConfiguration, or WebhookAdmission, says the same. */
const API_VERSIONS = ['apiserver.config.@group/v1', 'apiserver.config.@group/v1alpha1'];
const KINDS = ['WebhookAdmissionConfiguration', 'WebhookAdmission'];

/** A configuration that names no file was meant to: webhooks would be called by nobody they know. Throws ConfigurationError, and ConnectionFileError. */
export function readHookCredentials({ content, dialect, credentials }: ConfigurationFile): CredentialsByService {
  const members = membersOf(content, '', ['apiVersion', 'kind', 'kubeConfigFile'], 'a WebhookAdmissionConfiguration');
  requireText(members, 'apiVersion', ...API_VERSIONS.map(dialect.spell));
  requireText(members, 'kind', ...KINDS);
  const path = textOf(members.kubeConfigFile, 'kubeConfigFile');
  if (path === '') throw new ConfigurationError('kubeConfigFile', 'is required');
  return credentials(path);
}
