// The files of auditing: the policy, and the connection of the webhook. Read and checked whole before anything starts.
import { dirname } from 'node:path';
import type { AuditSettings } from '../../actors/server-settings.ts';
import { readAuditPolicy } from '../../config/audit-policy.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { ServerOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import { makeFolder } from '../../runtime/files/make-folder.ts';
import { requireAppendable } from '../writable-places.ts';
import { connectionOf } from './auth-methods.ts';
import { inOperatorFile, operatorContent } from './operator-file.ts';

const WHAT = 'the audit policy';

/** Makes the log where it is missing. Throws OrchError BadConfiguration where it cannot be written. */
export function requireAuditLog({ auditLogPath: path }: ServerOptions): void {
  if (path === '' || path === '-') return;
  try {
    makeFolder(dirname(path));
    requireAppendable(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OrchError('BadConfiguration', `the audit log ${path} cannot be written (${code})`);
  }
}

/** Undefined where nothing is recorded. Throws OrchError BadConfiguration. */
export function auditSettings(options: ServerOptions): AuditSettings | undefined {
  const { auditPolicyFile: file, auditWebhookConfigFile: webhook } = options;
  if (file === '') return undefined;
  const content = operatorContent(file, WHAT);
  const policy = inOperatorFile(file, WHAT, '', () => readAuditPolicy(content, DIALECTS[options.apiDialect]));
  return { policy, ...(webhook === '' ? {} : { webhook: connectionOf(webhook) }) };
}
