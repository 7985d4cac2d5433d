// The settings of EventRateLimit: how many events are taken, of whom.
import { ConfigurationError, filledListOf, membersOf, requireText } from '../../../../config/configuration-file.ts';
import type { ConfigurationFile } from '../plugin.ts';

const LIMIT_TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
export type LimitType = (typeof LIMIT_TYPES)[number];

export interface EventLimit {
  readonly type: LimitType;
  readonly perSecond: number;
  readonly burst: number;
  /** Of those it tells apart, how many are remembered. */
  readonly remembered: number;
}

const REMEMBERED_STANDARD = 4096;
/** What of a number a client may make us remember. */
const REMEMBERED_MAX = 1_000_000;
const NUMBER_MAX = 2 ** 31 - 1;

/** Throws ConfigurationError. */
export function readEventLimits({ content, dialect }: ConfigurationFile): readonly EventLimit[] {
  const members = membersOf(content, '', ['kind', 'apiVersion', 'limits']);
  requireText(members, 'kind', 'Configuration');
  requireText(members, 'apiVersion', dialect.spell('eventratelimit.admission.@group/v1alpha1'));
  return filledListOf(members.limits, 'limits').map((limit, index) => limitOf(limit, `limits[${index}]`));
}

function limitOf(value: unknown, at: string): EventLimit {
  const { type: given, qps, burst, cacheSize = 0 } = membersOf(value, at, ['type', 'qps', 'burst', 'cacheSize']);
  const type = LIMIT_TYPES.find((one) => one === given);
  if (type === undefined) throw new ConfigurationError(`${at}.type`, `must be one of ${LIMIT_TYPES.join(', ')}`);
  const remembered = wholeOf(cacheSize, `${at}.cacheSize`, 0, REMEMBERED_MAX);
  return {
    type,
    perSecond: wholeOf(qps, `${at}.qps`, 1, NUMBER_MAX),
    burst: wholeOf(burst, `${at}.burst`, 1, NUMBER_MAX),
    remembered: remembered || REMEMBERED_STANDARD,
  };
}

function wholeOf(value: unknown, path: string, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new ConfigurationError(path, `must be a whole number from ${least} to ${most}`);
}
