// How long extension points and plug-ins take is told, and changes no decision.
import test from 'ava';
import type { CycleTiming } from '../../../actors/scheduler/core/cycle-timing.ts';
import type { Decision } from '../../../actors/scheduler/core/decision.ts';
import { extensionTiming } from '../../../actors/scheduler/driver/extension-metrics.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { renderMetrics } from '../../../transport/metrics-text.ts';
import { boundPod, newCore, node, pod, seededRandom } from './objects.ts';

function timingThat(isSampled: boolean): { readonly told: string[]; readonly timing: CycleTiming } {
  const told: string[] = [];
  let nowMs = 0;
  const timing: CycleTiming = {
    nowMs: () => nowMs++,
    isSampled: () => isSampled,
    point: (profile, point, outcome, beganMs) => void (beganMs < nowMs && told.push(`${profile} ${point} ${outcome}`)),
    plugin: (plugin, point, outcome) => void told.push(`${plugin} ${point} ${outcome}`),
  };
  return { told, timing };
}

/** Pods of all sizes on 30 nodes, half of which are full: what is decided about each. */
function decisionsWith(timing: CycleTiming | undefined): readonly string[] {
  const core = newCore({ random: seededRandom(7), timing });
  for (let index = 0; index < 30; index++) {
    core.setNode(`n${index}`, node(`n${index}`, { labels: { zone: `z${index % 3}` } }));
    if (index % 2 === 0) core.setPod(boundPod(`full${index}`, `n${index}`, { requests: { cpu: '4' } }), 0);
  }
  for (let index = 0; index < 60; index++)
    core.setPod(pod(`p${index}`, { requests: { cpu: `${1 + (index % 5)}` } }), 0);
  const decided: string[] = [];
  core.advance(0);
  for (let next = core.decide(0); next !== undefined; next = core.decide(0)) decided.push(textOf(next));
  return decided;
}

function textOf(decision: Decision): string {
  return `${decision.pod.name} ${decision.kind === 'bind' ? decision.node.name : decision.message}`;
}

test('timed cycles decide as those that nobody times', (t) => {
  const plain = decisionsWith(undefined);
  t.is(plain.length, 60);
  t.deepEqual(decisionsWith(timingThat(false).timing), plain);
  t.deepEqual(decisionsWith(timingThat(true).timing), plain);
});

test('each extension point is told once a cycle, and single plug-ins only of cycles that are sampled', (t) => {
  const bound = (isSampled: boolean): readonly string[] => {
    const { told, timing } = timingThat(isSampled);
    const core = newCore({ timing });
    for (const name of ['a', 'b']) core.setNode(name, node(name));
    core.setPod(pod('p', { requests: { cpu: '1' } }), 0);
    core.advance(0);
    t.is(core.decide(0)?.kind, 'bind');
    return told;
  };
  const points = ['PreFilter', 'Filter', 'PreScore', 'Score', 'Reserve', 'Permit'];
  const ofPoints = points.map((point) => `default-scheduler ${point} Success`);
  t.deepEqual(bound(false), ofPoints);
  const sampled = bound(true);
  t.deepEqual(
    sampled.filter((line) => line.startsWith('default-scheduler ')),
    ofPoints,
  );
  for (const line of [
    'NodeResourcesFit PreFilter Success',
    'NodeResourcesFit Filter Success',
    'NodeResourcesLeastAllocated PreScore Success',
    'NodeResourcesLeastAllocated Score Success',
    'VolumeBinding Reserve Success',
  ])
    t.true(sampled.includes(line), line);
});

test('a refusal is told with what it means', (t) => {
  const { told, timing } = timingThat(true);
  const core = newCore({ timing });
  core.setNode('a', node('a'));
  core.setPod(pod('p', { requests: { cpu: '9' } }), 0);
  core.advance(0);
  t.is(core.decide(0)?.kind, 'unschedulable');
  t.true(told.includes('NodeResourcesFit Filter Unschedulable'));
  t.true(told.includes('default-scheduler PostFilter Unschedulable'));
});

test('the series have the names, labels and buckets of the field', async (t) => {
  const metrics = new MetricsRegistry();
  let nowMs = 0;
  const timing = extensionTiming(metrics, { nowMs: () => nowMs, monotonicMs: () => nowMs });
  t.deepEqual(
    Array.from({ length: 21 }, () => timing.isSampled()).flatMap((sampled, at) => (sampled ? [at] : [])),
    [0, 10, 20],
  );
  nowMs = 5;
  timing.point('mine', 'Filter', 'Unschedulable', 0);
  timing.plugin('NodeName', 'Filter', 'Success', 0);
  const text = await renderMetrics([metrics.reading()]);
  t.regex(
    text,
    /scheduler_framework_extension_point_duration_seconds_bucket\{extension_point="Filter",status="Unschedulable",profile="mine",le="0.0064"\} 1/,
  );
  t.regex(text, /scheduler_framework_extension_point_duration_seconds_bucket\{[^}]*le="0.0032"\} 0/);
  t.regex(
    text,
    /scheduler_plugin_execution_duration_seconds_sum\{plugin="NodeName",extension_point="Filter",status="Success"\} 0.005/,
  );
});
