// What a health endpoint answers (SPEC.md "Health endpoints"), of a server as of a scheduler of its own: which checks hold, in the original's
// words. Makes no check. Pure.

/** The outcome of one check: empty when it holds, else why not, which nobody is told. */
export type CheckResult = string;

export interface HealthReport {
  readonly healthy: boolean;
  readonly text: string;
}

/** What was asked of an endpoint, and what was found. */
export interface HealthFindings {
  /** Every check of the endpoint, in the order it lists them. */
  readonly names: readonly string[];
  /** By name; of an excluded one it does not matter. */
  readonly results: ReadonlyMap<string, CheckResult>;
  readonly excluded: ReadonlySet<string>;
  readonly verbose: boolean;
}

/** The answer of all checks but the excluded ones. Every endpoint passes by the name of the first. */
export function reportOf(endpoint: string, { names, results, excluded, verbose }: HealthFindings): HealthReport {
  const healthy = names.every((name) => excluded.has(name) || results.get(name) === '');
  if (healthy && !verbose) return { healthy, text: 'ok' };
  const lines = names.map((name) => {
    if (excluded.has(name)) return `[+]${name} excluded: ok`;
    return results.get(name) === '' ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
  });
  const unmatched = [...excluded].filter((name) => !names.includes(name)).sort();
  if (unmatched.length > 0) {
    const list = unmatched.map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${list}`);
  }
  return { healthy, text: `${lines.join('\n')}\n${healthy ? 'healthz check passed' : `${endpoint} check failed`}\n` };
}

/** The answer of one check that is asked for by its path. */
export function reportOfOne(name: string, result: CheckResult): HealthReport {
  return { healthy: result === '', text: result === '' ? 'ok' : `internal server error: ${name} failed` };
}
