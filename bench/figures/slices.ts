// Loads that take turns in slices, so that whatever else the machine does falls on all of them: how slices are put together. Pure.
import type { LoadResult } from '../load-protocol.ts';

/** CPU seconds of the server for one operation; NaN where its process is not known. */
export function cpuEach({ serverCpuSeconds, operations }: LoadResult): number {
  return (serverCpuSeconds ?? Number.NaN) / operations;
}

/** Several slices as one load; its delays are those of the last. */
export function sum(of: readonly LoadResult[]): LoadResult {
  const total = (value: (result: LoadResult) => number | undefined): number =>
    of.reduce((all, result) => all + (value(result) ?? 0), 0);
  return {
    ...of.at(-1)!,
    operations: total(({ operations }) => operations),
    seconds: total(({ seconds }) => seconds),
    errors: total(({ errors }) => errors),
    serverCpuSeconds: total(({ serverCpuSeconds }) => serverCpuSeconds),
    generatorCpuSeconds: total(({ generatorCpuSeconds }) => generatorCpuSeconds),
    machineCpuSeconds: total(({ machineCpuSeconds }) => machineCpuSeconds),
  };
}

/** 0 of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >>> 1] ?? 0;
}
