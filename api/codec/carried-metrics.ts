// What of an autoscaler its version has no fields for. It goes along in annotations: conversion writes and reads them
// (conversion/autoscaling.ts), who has metrics there is not given the metric of who has none, and each is changed by who may change
// what it stands for (strategy/autoscaling).
import type { Dialect } from '../../config/dialect.ts';
import type { JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';

/** In the form that clients of v1 know. */
export const METRICS = 'autoscaling.alpha.@label/metrics';
export const BEHAVIOR = 'autoscaling.alpha.@label/behavior';
export const CURRENT_METRICS = 'autoscaling.alpha.@label/current-metrics';
export const CONDITIONS = 'autoscaling.alpha.@label/conditions';
/** The metrics and their status as the hub, v2beta2, has them. */
export const EXACT = 'autoscaling.alpha.@label/exact-metrics';

/** What an autoscaler goes by that names no metric. */
export const DEFAULT_CPU_PERCENT = 80;

/** Whether an autoscaler has metrics that its version cannot say. */
export function carriesMetrics(object: JsonObject, dialect: Dialect): boolean {
  const annotations = asObject(asObject(object.metadata).annotations);
  const exact = annotations[dialect.spell(EXACT)];
  return (
    annotations[dialect.spell(METRICS)] !== undefined || (exact !== undefined && exactIn(exact).metrics !== undefined)
  );
}

/** The metrics of a spec and of a status, each by itself. One that is absent is not said exactly. */
export interface Exact {
  readonly metrics?: readonly unknown[];
  readonly current?: readonly unknown[];
}

/** What the text of `EXACT` says; nothing where it cannot be read. */
export function exactIn(text: unknown): Exact {
  try {
    const { metrics, current } = asObject(JSON.parse(String(text)));
    return { ...(Array.isArray(metrics) ? { metrics } : {}), ...(Array.isArray(current) ? { current } : {}) };
  } catch {
    return {};
  }
}
