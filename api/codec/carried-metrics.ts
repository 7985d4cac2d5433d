// The metrics of an autoscaler that its version has no fields for. They go along in annotations: conversion writes and reads
// them (conversion/autoscaling.ts), and who has some is not given the metric of who has none.
import type { Dialect } from '../../config/dialect.ts';
import type { JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';

/** In the form that clients of v1 know. */
export const METRICS = 'autoscaling.alpha.@label/metrics';
/** The metrics and their status as the hub, v2beta2, has them. */
export const EXACT = 'autoscaling.alpha.@label/exact-metrics';

/** What an autoscaler goes by that names no metric. */
export const DEFAULT_CPU_PERCENT = 80;

/** Whether an autoscaler has metrics that its version cannot say. */
export function carriesMetrics(object: JsonObject, dialect: Dialect): boolean {
  const annotations = asObject(asObject(object.metadata).annotations);
  return [METRICS, EXACT].some((name) => annotations[dialect.spell(name)] !== undefined);
}
