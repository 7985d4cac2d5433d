// How often tokens of service accounts are used, by what their use says about whoever holds them, under the metric names of
// Kubernetes 1.21.
import type { Metrics, Series } from '../../../runtime/metrics/metrics.ts';

/**
 * `legacy`: kept in a secret; `valid`, `stale`: lives longer than it says, for clients that do not renew theirs, and is used
 * before or after the time at which it should have been renewed. Other tokens are of no kind.
 */
export type TokenUse = 'legacy' | 'valid' | 'stale';

/** What counts the uses of each kind. */
export type TokenUses = Readonly<Record<TokenUse, Series>>;

/** The counters of a thread, at 0 from the start. */
export function tokenUses(metrics: Metrics): TokenUses {
  return {
    legacy: metrics.counter('serviceaccount_legacy_tokens_total', 'Uses of tokens that are kept in secrets.'),
    valid: metrics.counter(
      'serviceaccount_valid_tokens_total',
      'Uses of extended tokens before their renewal was due.',
    ),
    stale: metrics.counter('serviceaccount_stale_tokens_total', 'Uses of extended tokens whose renewal was due.'),
  };
}
