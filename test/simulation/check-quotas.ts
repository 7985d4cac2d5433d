// What holds for a namespace with a quota, at every durable revision: what is there is never more than the quota allows or than it
// says is used, and every pod is as plugins and webhooks make it. At the end the usage is what is there. Pure.
import type { Committed, Version } from './committed.ts';
import { DEFAULT_CPU, LIMITED_NAMESPACE, QUOTA_KEY } from './quota-steps.ts';
import { MARK, REFUSED } from './webhooks.ts';

interface PodJson {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly containers: readonly { readonly resources?: { readonly limits?: Readonly<Record<string, string>> } }[];
  };
}

interface QuotaJson {
  readonly spec: { readonly hard: Readonly<Record<string, string>> };
  readonly status?: { readonly used?: Readonly<Record<string, string>> };
}

const isLimitedPod = (key: string): boolean => key.startsWith(`core/pods/${LIMITED_NAMESPACE}/`);

/** What is wrong, one line each. */
export function checkQuotas({ changes }: Committed): readonly string[] {
  const problems: string[] = [];
  const pods = new Set<string>();
  let quota: Version | undefined;
  let before = 0;
  for (const [i, { key, revision, after }] of changes.entries()) {
    if (key === QUOTA_KEY) quota = after;
    if (isLimitedPod(key)) {
      if (after === undefined) pods.delete(key);
      else pods.add(key);
      if (after !== undefined) problems.push(...podProblems(after));
    }
    // What changes together counts together.
    if (quota === undefined || changes[i + 1]?.revision === revision) continue;
    const { hard, used } = amountsOf(quota);
    const grows = pods.size > before;
    before = pods.size;
    // Until it has been counted for the first time it promises nothing.
    if (used === undefined) continue;
    if (grows && pods.size > hard) problems.push(`${pods.size} pods at ${revision}, the quota allows ${hard}`);
    if (pods.size > used) problems.push(`${pods.size} pods at ${revision}, ${used} are said to be used`);
  }
  return problems;
}

/** What the controller has left to do. */
export function unfinishedQuotas({ present }: Committed): readonly string[] {
  const quota = present.get(QUOTA_KEY);
  if (quota === undefined) return [];
  const there = [...present.keys()].filter(isLimitedPod).length;
  const { used } = amountsOf(quota);
  return used === there ? [] : [`${there} pods are there in the end, and ${used} are said to be used`];
}

function amountsOf({ text }: Version): { readonly hard: number; readonly used: number | undefined } {
  const { spec, status } = JSON.parse(text) as QuotaJson;
  const used = status?.used?.pods;
  return { hard: Number(spec.hard.pods), used: used === undefined ? undefined : Number(used) };
}

function podProblems({ key, revision, text }: Version): readonly string[] {
  const { metadata, spec } = JSON.parse(text) as PodJson;
  const problems: string[] = [];
  if (metadata.labels?.hooked !== MARK.hooked) problems.push(`${key} at ${revision} lacks what a webhook puts on it`);
  if (metadata.annotations !== undefined && REFUSED in metadata.annotations)
    problems.push(`${key} is there at ${revision}, a webhook has refused it`);
  if (spec.containers.some(({ resources }) => resources?.limits?.cpu !== DEFAULT_CPU))
    problems.push(`${key} at ${revision} lacks what a LimitRange gives it`);
  return problems;
}
