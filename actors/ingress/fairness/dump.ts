// What waits and runs under API priority and fairness, as text for an operator in the tables of Kubernetes 1.21. What each thread
// knows of a level is put together: the levels are of all threads, the queues of one number count as one.
import type { FlowDump, LevelDump, QueueDump, RequestDump } from '../protocol.ts';
import type { FlowLevel, FlowRequest } from './classifier.ts';
import type { Ticket } from './queue-set.ts';

/** Below which the dumps are. */
const DUMP_PATH = '/debug/api_priority_and_fairness/';
/** Idle queues are listed up to this number. */
const IDLE_QUEUES_MAX = 10_000;
const NONE = '<none>';

/** The paths of the dumps, each with what makes its text. `hasDetails`: each request is described. */
export const DUMPS: ReadonlyMap<string, (levels: readonly LevelDump[], hasDetails: boolean) => string> = new Map([
  [`${DUMP_PATH}dump_priority_levels`, levelsText],
  [`${DUMP_PATH}dump_queues`, queuesText],
  [`${DUMP_PATH}dump_requests`, requestsText],
]);

/** What this thread knows. `now`: by both clocks, so that arrivals get a time of day. */
export function dumpOf(levels: Iterable<FlowLevel>, now: { readonly wallMs: number; readonly ms: number }): FlowDump {
  return {
    levels: [...levels].map(({ spec, isQuiescing, queues }) => ({
      name: spec.name,
      isExempt: queues === undefined,
      isQuiescing,
      waiting: queues?.waiting ?? 0,
      running: queues?.running ?? 0,
      queueCount: spec.queuing?.queues ?? 0,
      queues: (queues?.queues ?? []).map(({ index, waiting, running, virtualStart }) => ({
        index,
        running,
        virtualStart,
        requests: Array.from(waiting, (ticket) => requestDump(ticket, now.wallMs - now.ms)),
      })),
    })),
  };
}

/** One of what several threads say. */
export function mergedDump(dumps: readonly FlowDump[]): readonly LevelDump[] {
  const byName = new Map<string, LevelDump>();
  for (const level of dumps.flatMap(({ levels }) => levels)) {
    const other = byName.get(level.name);
    byName.set(level.name, other === undefined ? level : mergedLevel(other, level));
  }
  return [...byName.values()];
}

function mergedLevel(one: LevelDump, other: LevelDump): LevelDump {
  const queues = new Map(one.queues.map((queue) => [queue.index, queue]));
  for (const queue of other.queues) {
    const same = queues.get(queue.index);
    queues.set(queue.index, same === undefined ? queue : mergedQueue(same, queue));
  }
  return {
    ...one,
    waiting: one.waiting + other.waiting,
    running: one.running + other.running,
    queues: [...queues.values()].sort((a, b) => a.index - b.index),
  };
}

function mergedQueue(one: QueueDump, other: QueueDump): QueueDump {
  const requests = [...one.requests, ...other.requests].sort((a, b) => a.arrivedWallMs - b.arrivedWallMs);
  return { ...one, running: one.running + other.running, requests };
}

function requestDump({ item, arrivedMs }: Ticket<FlowRequest>, wallOffsetMs: number): RequestDump {
  const { flow, exchange } = item;
  const { info, user, request, verb } = exchange;
  const asked = info.isResource ? info : undefined;
  const { namespace = '', name = '', resource = '', subresource = '' } = asked ?? {};
  const version =
    asked === undefined || asked.group === '' ? (asked?.version ?? '') : `${asked.group}/${asked.version}`;
  return {
    schema: flow.schema.name,
    distinguisher: flow.distinguisher,
    arrivedWallMs: arrivedMs + wallOffsetMs,
    details: [user.name, verb.toLowerCase(), request.path, namespace, name, version, resource, subresource],
  };
}

function levelsText(levels: readonly LevelDump[]): string {
  const heads = ['PriorityLevelName', 'ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests'];
  return table([
    heads,
    ...levels.map(({ name, isExempt, isQuiescing, waiting, running, queues }) => {
      if (isExempt) return [name, ...heads.slice(1).map(() => NONE)];
      const active = queues.filter(({ requests }) => requests.length > 0).length;
      return [name, active, waiting + running === 0, isQuiescing, waiting, running].map(String);
    }),
  ]);
}

function queuesText(levels: readonly LevelDump[]): string {
  const heads = ['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'VirtualStart'];
  return table([heads, ...levels.flatMap((level) => queueRows(level, heads.length))]);
}

function queueRows({ name, isExempt, queueCount, queues }: LevelDump, columns: number): string[][] {
  if (isExempt) return [[name, ...Array.from({ length: columns - 1 }, () => NONE)]];
  const byIndex = new Map(queues.map((queue) => [queue.index, queue]));
  const idle = Array.from({ length: Math.min(queueCount, IDLE_QUEUES_MAX) }, (_, index) => index);
  const indexes = [...new Set([...idle, ...byIndex.keys()])].sort((a, b) => a - b);
  return indexes.map((index) => {
    const { requests = [], running = 0, virtualStart = 0 } = byIndex.get(index) ?? {};
    return [name, String(index), String(requests.length), String(running), virtualStart.toFixed(4)];
  });
}

function requestsText(levels: readonly LevelDump[], hasDetails: boolean): string {
  const heads = ['PriorityLevelName', 'FlowSchemaName', 'QueueIndex', 'RequestIndexInQueue', 'FlowDistingsher'];
  const details = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];
  const rows = levels.flatMap(({ name, queues }) =>
    queues.flatMap(({ index, requests }) =>
      requests.map((request, place) => [
        ...[name, request.schema, String(index), String(place), request.distinguisher],
        new Date(request.arrivedWallMs).toISOString().replace(/\.?0*Z$/, 'Z'),
        ...(hasDetails ? request.details : []),
      ]),
    ),
  );
  return table([[...heads, 'ArriveTime', ...(hasDetails ? details : [])], ...rows]);
}

const COLUMN_MIN = 8;

/** Rows as lines: a comma behind every cell but the last, and columns below each other. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length + 2), COLUMN_MIN),
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === row.length - 1 ? cell : `${cell},`.padEnd(widths[column]!))).join('');
  return rows.map((row) => `${line(row)}\n`).join('');
}
