// Scheduling workloads as data: the files of bench/scheduling/, after those of the original's scheduler_perf. What there is before,
// what is measured, what comes and goes meanwhile. Reads files and builds request bodies; runs nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Dialect } from '../config/dialect.ts';
import type { RequestTemplate } from './load-protocol.ts';
import { createRequest, PATHS, podLike } from './objects.ts';
import { UsageError } from './options.ts';

/** Seen from the compiled file in dist/bench. */
const FOLDER = fileURLToPath(new URL('../../bench/scheduling/', import.meta.url));

/** Pods of one shape. Texts may hold `{seq}`, and the markers of Dialect.spell. */
export interface PodGroup {
  readonly count: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly spec?: object;
  /** False: no node will take them, and nobody waits for them. */
  readonly waits?: boolean;
}

export interface ObjectGroup {
  readonly path: string;
  /** Or as many as pods are measured. */
  readonly count: number | 'measured';
  readonly body: object;
}

/** One is made and removed again and again. */
export interface Churn {
  readonly path: string;
  readonly everyMs: number;
  readonly body: object;
}

export interface SchedulingCase {
  readonly name: string;
  readonly summary: string;
  /** `amounts`: what each has; absent: twice what an even share of the pods takes. */
  readonly nodes: {
    readonly count: number;
    readonly zones: number;
    readonly amounts?: Readonly<Record<string, string>>;
  };
  readonly objects: readonly ObjectGroup[];
  readonly before: readonly PodGroup[];
  readonly measured: PodGroup;
  readonly churn: readonly Churn[];
}

const NAMED = /^([a-z0-9-]+)\.json$/;

/** Names of the cases that there are; the one that others are compared with first. */
function caseNames(): readonly string[] {
  const names = readdirSync(FOLDER).flatMap((file) => NAMED.exec(file)?.[1] ?? []);
  return ['plain', ...names.filter((name) => name !== 'plain').sort()];
}

/** By names, separated by commas, or `all`. Throws UsageError. */
export function readCases(names: string): readonly SchedulingCase[] {
  const known = caseNames();
  return (names === 'all' ? known : names.split(',')).map((name) => {
    if (!known.includes(name)) throw new UsageError(`--case is all, or of ${known.join(', ')}`);
    const read = JSON.parse(readFileSync(`${FOLDER}${name}.json`, 'utf8')) as Omit<SchedulingCase, 'name'>;
    return { ...read, name, objects: read.objects ?? [], before: read.before ?? [], churn: read.churn ?? [] };
  });
}

/** `counts`: the pod is told of by its number. */
export function podRequest(group: PodGroup, name: string, bytes: number, dialect: Dialect, counts: boolean) {
  const { labels = {}, requests, spec = {} } = group;
  const body = podLike(name, bytes, { labels: { ...labels, ...(counts ? { seq: '{seq}' } : {}) }, requests, spec });
  return createRequest(PATHS.pods, dialect.spell(body));
}

/** Labelled as what a bench has made. */
export function objectRequest({ path, body }: Pick<ObjectGroup, 'path' | 'body'>, dialect: Dialect): RequestTemplate {
  const { metadata, ...rest } = body as { readonly metadata: { readonly labels?: object } };
  const labelled = { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, app: 'bench' } } };
  return createRequest(dialect.spell(path), dialect.spell(JSON.stringify(labelled)));
}
