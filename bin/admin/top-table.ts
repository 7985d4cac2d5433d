// What `orch top` shows: two scrapes of /metrics, some time apart, as a table. Pure.

const SAMPLE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;
const COLUMNS = ['THREAD', 'ACTOR', 'WAITING', 'MESSAGES/S', 'TURNS/S', 'TURNS P99', 'LONGEST TURN'] as const;

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a server said at a time. */
export interface Look {
  readonly atMs: number;
  readonly samples: readonly Sample[];
}

/** The samples of a scrape. */
export function samplesOf(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key, text]) => [key!, text!] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** The table of what happened between two looks, ending in a line feed. */
export function table(before: Look, now: Look): string {
  const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1000);
  const perSecond = (name: string, labels: Sample['labels'] = {}): string =>
    (growth(before, now, name, labels) / seconds).toFixed(0);
  const actors = now.samples.filter(({ name }) => name === 'actor_mailbox_depth');
  const rows = actors.map(({ labels, value }) => [
    labels.thread ?? '',
    labels.actor ?? '',
    String(value),
    perSecond('actor_messages_total', labels),
    perSecond('actor_turns_total', labels),
    percentileText(before, now, 'actor_turn_seconds', labels, 0.99),
    `${(sumOf(now, 'actor_turn_seconds_max', labels) * 1000).toFixed(1)} ms`,
  ]);
  rows.sort(([a = '', x = ''], [b = '', y = '']) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));
  const mebibytes = (name: string): string => `${(sumOf(now, name) / 2 ** 20).toFixed(0)} MB`;
  return [
    `requests ${perSecond('apiserver_request_total')}/s, in flight ${sumOf(now, 'apiserver_current_inflight_requests')}, waiting ${sumOf(now, 'apiserver_current_inqueue_requests')}; cpu ${(100 * cpuOf(before, now, seconds)).toFixed(0)} %, memory ${mebibytes('process_resident_memory_bytes')}, heaps ${mebibytes('orch_thread_heap_bytes')}`,
    `connections ${sumOf(now, 'orch_ingress_connections')}, watches ${sumOf(now, 'orch_hub_watchers')} in ${sumOf(now, 'orch_hub_cohorts')} cohorts, framings ${perSecond('orch_hub_framings_total')}/s, deliveries ${perSecond('orch_hub_event_deliveries_total')}/s`,
    `objects ${sumOf(now, 'orch_store_objects')}, revision ${sumOf(now, 'orch_store_revision')}, commits ${perSecond('orch_store_commits_total')}/s, slabs ${mebibytes('orch_store_slab_bytes')}`,
    '',
    ...aligned([COLUMNS, ...rows]),
    '',
  ].join('\n');
}

/** What so great a part of a histogram's observations between the looks did not exceed, as its buckets tell; `-` for none. */
function percentileText(before: Look, now: Look, name: string, labels: Sample['labels'], part: number): string {
  const bounds = now.samples
    .filter((one) => one.name === `${name}_bucket` && includes(one.labels, labels))
    .map((one) => one.labels.le!);
  const upTo = (le: string): number => growth(before, now, `${name}_bucket`, { ...labels, le });
  const total = bounds.includes('+Inf') ? upTo('+Inf') : 0;
  if (total === 0) return '-';
  const finite = bounds.filter((le) => le !== '+Inf').sort((a, b) => Number(a) - Number(b));
  const found = finite.find((le) => upTo(le) >= part * total);
  return found === undefined ? `> ${milliseconds(finite.at(-1)!)}` : `≤ ${milliseconds(found)}`;
}

function milliseconds(seconds: string): string {
  return `${Number((Number(seconds) * 1000).toPrecision(3))} ms`;
}

function includes(labels: Sample['labels'], wanted: Sample['labels']): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

function cpuOf(before: Look, now: Look, seconds: number): number {
  return growth(before, now, 'process_cpu_seconds_total') / seconds;
}

/** By how much a counter has grown. One that fell has begun anew, with its thread or its server. */
function growth(before: Look, now: Look, name: string, labels: Sample['labels'] = {}): number {
  const [from, to] = [sumOf(before, name, labels), sumOf(now, name, labels)];
  return to < from ? to : to - from;
}

function sumOf({ samples }: Look, name: string, labels: Sample['labels'] = {}): number {
  return samples
    .filter((sample) => sample.name === name && includes(sample.labels, labels))
    .reduce((total, { value }) => total + value, 0);
}

/** Names to the left, numbers to the right. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const names = 2;
  return rows.map((row) =>
    row
      .map((cell, column) => (column < names ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}
