// What a workload tells: one record, as JSON or as lines for a reader. Pure.

import type { LatencyBuckets, LoadResult } from '../load-protocol.ts';
import { histogramLines } from './histogram-text.ts';

/** The floor of a load, measured in the same run. */
export interface FloorFigures {
  /** What it was: `bare listener`, `bare engine`. */
  readonly name: string;
  readonly perSecond: number;
  readonly cpuSecondsPer1000: number | null;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Cores that the load generator used; a floor that nobody but itself loads has none. */
  readonly generatorCores: number | null;
  /** Cores that whatever else runs on the machine used; far above 0, the rate says little. */
  readonly otherCores: number | null;
}

export interface Figures {
  readonly workload: string;
  /** What it was run with. */
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  /** What is counted: requests, events, pods, starts. */
  readonly unit: string;
  readonly operations: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** CPU of the server, all its threads; null when its process is not known. */
  readonly cpuSecondsPer1000: number | null;
  readonly serverCores: number | null;
  readonly serverRssBytes: number | null;
  readonly generatorCores: number | null;
  readonly otherCores: number | null;
  readonly errors: number;
  readonly firstError: string | null;
  readonly floor: FloorFigures | null;
  /** Operations a second over the floor's: 1 is as fast as the floor. */
  readonly ratioToFloor: number | null;
  /** CPU seconds an operation over the floor's: 1 is as cheap as the floor. */
  readonly cpuToFloor: number | null;
  /** More of it, by name with unit. */
  readonly details: Readonly<Record<string, number>>;
  /** How the delays are spread, where that is measured. */
  readonly buckets: LatencyBuckets | null;
}

export interface FiguresOf {
  readonly workload: string;
  readonly parameters: Figures['parameters'];
  readonly unit: string;
  readonly result: LoadResult;
  readonly floor: FloorFigures | undefined;
  readonly details?: Readonly<Record<string, number>>;
  readonly buckets?: LatencyBuckets | undefined;
}

/** Rates and ratios from counts. */
export function figuresOf({ workload, parameters, unit, result, floor, details, buckets }: FiguresOf): Figures {
  const perSecond = rate(result.operations, result.seconds);
  const cpuSecondsPer1000 = per1000(result.serverCpuSeconds, result.operations);
  return {
    workload,
    parameters,
    unit,
    operations: result.operations,
    seconds: result.seconds,
    perSecond,
    ...result.latency,
    cpuSecondsPer1000,
    serverCores: cores(result.serverCpuSeconds, result.seconds),
    serverRssBytes: result.serverRssBytes ?? null,
    generatorCores: cores(result.generatorCpuSeconds, result.seconds),
    otherCores: otherCores(result),
    errors: result.errors,
    firstError: result.firstError ?? null,
    floor: floor ?? null,
    ratioToFloor: ratio(perSecond, floor?.perSecond),
    cpuToFloor: ratio(cpuSecondsPer1000, floor?.cpuSecondsPer1000),
    details: details ?? {},
    buckets: buckets ?? null,
  };
}

/** A floor's figures; `writesEach` is how many of its operations one of the workload's takes. */
export function floorFigures(name: string, result: LoadResult, writesEach = 1): FloorFigures {
  const operations = result.operations / writesEach;
  return {
    name,
    perSecond: rate(operations, result.seconds),
    cpuSecondsPer1000: per1000(result.serverCpuSeconds, operations),
    p50Ms: result.latency.p50Ms,
    p99Ms: result.latency.p99Ms,
    generatorCores: cores(result.generatorCpuSeconds, result.seconds),
    otherCores: otherCores(result),
  };
}

/** Where the time of an event goes, from its write on, as details. */
export function eventDetails({ sentToSeen, writeLatency }: LoadResult): Readonly<Record<string, number>> {
  return {
    ...(sentToSeen === undefined ? {} : { sentToSeenP50Ms: sentToSeen.p50Ms, sentToSeenP99Ms: sentToSeen.p99Ms }),
    ...(writeLatency === undefined ? {} : { writeP50Ms: writeLatency.p50Ms, writeP99Ms: writeLatency.p99Ms }),
  };
}

/** The figures for a reader: a line for the server, one for the floor, one for details and errors where there are any. */
export function lines(figures: Figures): string {
  const { floor, workload, unit } = figures;
  const rows = [`${workload.padEnd(16)}${row(figures)}  ${rss(figures.serverRssBytes)}  ${shares(figures)}  (${unit})`];
  if (floor !== null) {
    const ratios = `${decimal(figures.ratioToFloor)} of its rate, ${decimal(figures.cpuToFloor)} times its CPU`;
    rows.push(`  ${floor.name.padEnd(14)}${row(floor)}  ${shares(floor)}  => ${ratios}`);
  }
  const details = Object.entries({ ...figures.parameters, ...figures.details });
  rows.push(`  ${details.map(([name, value]) => `${name} ${detail(value)}`).join(', ')}`);
  if (figures.buckets !== null) rows.push(...histogramLines(figures.buckets));
  if (figures.errors > 0) rows.push(`  ${figures.errors} errors: ${figures.firstError ?? 'unknown'}`);
  return `${rows.join('\n')}\n`;
}

/** Why nothing is to be concluded from the figures, in one line each; a load without writes does nothing, and is not meant to. */
export function failuresOf(all: readonly Figures[]): readonly string[] {
  return all.flatMap(({ workload, perSecond, errors, firstError, parameters }) => {
    if (errors > 0) return [`${workload}: ${errors} errors: ${(firstError ?? 'unknown').trim()}`];
    return perSecond === 0 && parameters.rate !== 0 ? [`${workload}: nothing was done`] : [];
  });
}

function row(of: Pick<Figures, 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuSecondsPer1000'>): string {
  const latency = `p50 ${decimal(of.p50Ms).padStart(7)} ms  p99 ${decimal(of.p99Ms).padStart(7)} ms`;
  const cpu = of.cpuSecondsPer1000 === null ? '–' : significant(of.cpuSecondsPer1000);
  return `${grouped(of.perSecond).padStart(9)}/s  ${latency}  CPU ${cpu.padStart(7)} s per 1,000`;
}

function rate(operations: number, seconds: number): number {
  return seconds > 0 ? operations / seconds : 0;
}

function per1000(cpuSeconds: number | undefined, operations: number): number | null {
  return cpuSeconds === undefined || operations === 0 ? null : (cpuSeconds * 1000) / operations;
}

function cores(cpuSeconds: number | undefined, seconds: number): number | null {
  return cpuSeconds === undefined || seconds === 0 ? null : cpuSeconds / seconds;
}

function otherCores({ machineCpuSeconds, serverCpuSeconds, generatorCpuSeconds, seconds }: LoadResult): number | null {
  if (machineCpuSeconds === undefined || serverCpuSeconds === undefined) return null;
  return cores(Math.max(0, machineCpuSeconds - serverCpuSeconds - (generatorCpuSeconds ?? 0)), seconds);
}

function ratio(value: number | null, floor: number | null | undefined): number | null {
  return value === null || floor === null || floor === undefined || floor === 0 ? null : value / floor;
}

function grouped(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : significant(value);
}

function significant(value: number): string {
  return value === 0 ? '0' : String(Number(value.toPrecision(value < 10 ? 2 : 3)));
}

function decimal(value: number | null): string {
  if (value === null) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);
}

function detail(value: string | number | boolean): string {
  if (typeof value !== 'number') return String(value);
  return Number.isInteger(value) ? value.toLocaleString('en-US') : significant(value);
}

function shares(of: Pick<Figures, 'generatorCores' | 'otherCores'>): string {
  return `generator ${core(of.generatorCores)}, others ${core(of.otherCores)} cores`;
}

function core(value: number | null): string {
  return value === null ? '–' : value.toFixed(2);
}

function rss(bytes: number | null): string {
  return bytes === null ? 'RSS –' : `RSS ${Math.round(bytes / 1024 / 1024)} MiB`;
}
