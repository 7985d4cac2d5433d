// Loads that take turns in slices, so that whatever else the machine does falls on all of them: how slices are put together. Pure.
import type { LoadResult } from '../load-protocol.ts';

/** CPU seconds of the server for one operation; NaN where its process is not known. */
export function cpuEach({ serverCpuSeconds, operations }: LoadResult): number {
  return (serverCpuSeconds ?? Number.NaN) / operations;
}

/** Each is absent where it is not known. */
const CPU_SECONDS = ['serverCpuSeconds', 'generatorCpuSeconds', 'machineCpuSeconds'] as const;

/** Several slices as one load; its delays are those of the last. */
export function sum(of: readonly LoadResult[]): LoadResult {
  const total = (value: (result: LoadResult) => number | undefined): number =>
    of.reduce((all, result) => all + (value(result) ?? 0), 0);
  const known = CPU_SECONDS.filter((name) => of.some((result) => result[name] !== undefined));
  const firstError = of.find((result) => result.firstError !== undefined)?.firstError;
  return {
    ...of.at(-1)!,
    operations: total(({ operations }) => operations),
    seconds: total(({ seconds }) => seconds),
    errors: total(({ errors }) => errors),
    ...(firstError === undefined ? {} : { firstError }),
    ...Object.fromEntries(known.map((name) => [name, total((result) => result[name])])),
  };
}

/** A load with what went wrong in others that went on beside it: of a server that fails those, it says nothing either. */
export function withErrorsOf(result: LoadResult, others: readonly LoadResult[]): LoadResult {
  const { errors, firstError } = sum([...others, result]);
  return { ...result, errors, ...(firstError === undefined ? {} : { firstError }) };
}

/** 0 of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >>> 1] ?? 0;
}
