// What must hold when a server is back after a crash: every object is as its client was told, or as it had asked for last;
// watches that were open go on without a loss or a repeat; and a watch from before the crash shows the same changes again.

import { eventually } from '../integration/objects.ts';
import type { ResumedWatch } from '../integration/resumed-watch.ts';
import type { ApiObject, HttpsClient } from '../server/https-client.ts';
import type { WatchEvent } from '../server/watch-stream.ts';
import type { CrashCollection } from './crash-client.ts';
import type { Families } from './families.ts';
import { annotationsOf, type KnownObject, stepOf } from './known-object.ts';
import { countOf, type SharedCounter } from './shared-counter.ts';

/** Written after a crash: when a watch shows it, the watch has shown everything before it. */
const FENCE = 'fence';
/** Longer than anything takes that comes at all. */
const PATIENCE_MS = 120_000;

/** A collection that clients wrote to, and what they know. */
export interface CheckedCollection {
  readonly collection: CrashCollection;
  /** Open since before the crash. */
  readonly watch: ResumedWatch;
  /** Where the round's changes begin. */
  readonly version: string;
  readonly objects: readonly KnownObject[];
  /** Called with the version up to which all is checked. */
  readonly reached: (version: string) => void;
}

export interface Round {
  readonly number: number;
  readonly client: HttpsClient;
  readonly counter: SharedCounter;
  readonly families: Families;
  readonly collections: readonly CheckedCollection[];
}

export interface Checked {
  readonly happened: number;
  readonly events: number;
  readonly problems: readonly string[];
}

/** Settles what was open and forgets what was checked. Rejects when the server does not answer as it should. */
export async function checkRound(round: Round): Promise<Checked> {
  const problems: string[] = [];
  const found = (problem: string | undefined): void => {
    if (problem !== undefined) problems.push(problem);
  };
  let happened = 0;
  let events = 0;
  for (const { collection, objects } of round.collections) {
    const stored = await listed(round.client, collection.path);
    const counter = stored.get(round.counter.name);
    if (counter !== undefined) found(round.counter.settle(countOf(counter.data)));
    for (const object of objects) {
      const { open } = object;
      found(object.settle(stored.get(object.name)));
      if (open !== undefined && object.state.token === open.token) happened++;
    }
  }
  for (const checked of round.collections) {
    const fence = await raiseFence(round, checked.collection);
    const seen = await eventsUpTo(fence, checked.watch);
    const replayed = await replayedUpTo(fence, round.client, checked);
    events += seen.length;
    found(orderProblem(seen));
    found(replayProblem(seen, replayed));
    const byName = grouped(seen);
    for (const object of checked.objects) {
      found(object.checkEvents(byName.get(object.name) ?? []));
      object.forget();
    }
    const counted = byName.get(round.counter.name);
    if (counted !== undefined) found(round.counter.checkEvents(counted));
    checked.reached(fence);
  }
  problems.push(...(await round.families.settle()));
  return { happened, events, problems };
}

async function listed(client: HttpsClient, path: string): Promise<ReadonlyMap<string, ApiObject>> {
  const { status, text, json } = await client.get(path);
  if (status !== 200) throw new Error(`the list of ${path} was answered with ${status}: ${text}`);
  return new Map((json.items ?? []).map((item) => [item.metadata.name ?? '', item]));
}

/** Answers the fence's version. */
async function raiseFence({ number, client }: Round, { kind, path }: CrashCollection): Promise<string> {
  const { status, text, json } = await client.request('PATCH', `${path}/${FENCE}?fieldManager=crash&force=true`, {
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: kind.body(FENCE, annotationsOf(`fence.${number}`)),
  });
  if (status !== 200 && status !== 201) throw new Error(`the fence was answered with ${status}: ${text}`);
  return json.metadata.resourceVersion ?? '';
}

/** The watch's events since the last call, up to the fence. */
async function eventsUpTo(fence: string, watch: ResumedWatch): Promise<WatchEvent[]> {
  const arrived = eventually(
    () => Promise.resolve(watch.events.at(-1)),
    (event) => event !== undefined && versionOf(event) >= Number(fence),
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const why = (): Error => {
      const last = watch.events.at(-1);
      return new Error(`a watch stopped at ${last === undefined ? 'nothing' : versionOf(last)} of ${fence}`);
    };
    timer = setTimeout(() => reject(why()), PATIENCE_MS);
  });
  await Promise.race([arrived, watch.failed, late]).finally(() => clearTimeout(timer));
  return watch.events.splice(0);
}

/** What a new watch from the round's beginning shows, up to the fence. */
async function replayedUpTo(fence: string, client: HttpsClient, checked: CheckedCollection): Promise<WatchEvent[]> {
  const watch = await client.watch(`${checked.collection.path}?watch=1&resourceVersion=${checked.version}`);
  try {
    return await watch.until((event) => event.type === 'ERROR' || versionOf(event) >= Number(fence));
  } finally {
    watch.close();
  }
}

function grouped(events: readonly WatchEvent[]): ReadonlyMap<string, WatchEvent[]> {
  const byName = new Map<string, WatchEvent[]>();
  for (const event of events) {
    const { name = '' } = event.object.metadata;
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [event]);
    else known.push(event);
  }
  return byName;
}

function orderProblem(events: readonly WatchEvent[]): string | undefined {
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (before !== undefined && versionOf(event) <= versionOf(before)) {
      return `a watch saw version ${versionOf(event)} after ${versionOf(before)}`;
    }
  }
  return undefined;
}

function replayProblem(seen: readonly WatchEvent[], replayed: readonly WatchEvent[]): string | undefined {
  for (let index = 0; index < Math.max(seen.length, replayed.length); index++) {
    const [first, second] = [lineOf(seen[index]), lineOf(replayed[index])];
    if (first !== second) return `a watch saw ${first} before or after the crash, and a new one sees ${second}`;
  }
  return undefined;
}

function lineOf(event: WatchEvent | undefined): string {
  if (event === undefined) return 'nothing';
  const { type, object } = event;
  return `${type} ${object.metadata.name} ${stepOf(object).token} at ${object.metadata.resourceVersion}`;
}

function versionOf({ object }: WatchEvent): number {
  return Number(object.metadata.resourceVersion);
}
