// The settings of ImagePolicyWebhook: the service that is asked, how long its answers hold, and what is done without one.
import { ConfigurationError, membersOf, textOf } from '../../../../config/configuration-file.ts';
import type { ServiceConnection } from '../../../../transport/outgoing/connection-file.ts';
import type { ConfigurationFile } from '../plugin.ts';

export interface ImagePolicySettings {
  readonly connection: ServiceConnection;
  readonly allowedMs: number;
  readonly refusedMs: number;
  readonly retryFirstMs: number;
  readonly allowsWithoutAnswer: boolean;
}

/** The other is another plugin's, which once shared the file. */
const FILE_MEMBERS = ['imagePolicy', 'podNodeSelectorPluginConfig'];
const MEMBERS = ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'];

/** Times as the file has them: in a unit of their own, 0 for the usual one, -1 for none. */
interface Time {
  readonly unitMs: number;
  readonly leastMs: number;
  readonly mostMs: number;
  readonly usualMs: number;
}

const MINUTE_MS = 60_000;
const ALLOWED: Time = { unitMs: 1000, leastMs: 1000, mostMs: 30 * MINUTE_MS, usualMs: 5 * MINUTE_MS };
const REFUSED: Time = { ...ALLOWED, usualMs: MINUTE_MS / 2 };
const RETRY: Time = { unitMs: 1, leastMs: 1, mostMs: 5 * MINUTE_MS, usualMs: 500 };

/** Throws ConfigurationError. */
export function readImagePolicy({ content, connection }: ConfigurationFile): ImagePolicySettings {
  const path = 'imagePolicy';
  const { imagePolicy } = membersOf(content, '', FILE_MEMBERS);
  const members = membersOf(imagePolicy, path, MEMBERS);
  const file = textOf(members.kubeConfigFile, `${path}.kubeConfigFile`);
  if (file === '') throw new ConfigurationError(`${path}.kubeConfigFile`, 'is required');
  const { defaultAllow = false } = members;
  if (typeof defaultAllow !== 'boolean') throw new ConfigurationError(`${path}.defaultAllow`, 'must be true or false');
  return {
    allowedMs: timeOf(members.allowTTL, `${path}.allowTTL`, ALLOWED),
    refusedMs: timeOf(members.denyTTL, `${path}.denyTTL`, REFUSED),
    retryFirstMs: timeOf(members.retryBackoff, `${path}.retryBackoff`, RETRY),
    allowsWithoutAnswer: defaultAllow,
    connection: connection(file),
  };
}

function timeOf(value: unknown, path: string, { unitMs, leastMs, mostMs, usualMs }: Time): number {
  if (value === undefined || value === null || value === 0) return usualMs;
  if (value === -1) return 0;
  const ms = typeof value === 'number' && Number.isInteger(value) ? value * unitMs : -1;
  if (ms >= leastMs && ms <= mostMs) return ms;
  throw new ConfigurationError(path, `must be a whole number from ${leastMs / unitMs} to ${mostMs / unitMs}`);
}
