// What is shown of an event: when it happened and how often, what it is about, who saw it. Reads both groups' versions of
// the kind, which name the same things differently.
import type { JsonObject } from '../json/json-value.ts';
import { asTimeMs, numberAt, partAt, textAt } from '../json/object-fields.ts';
import { ageText } from './age.ts';
import type { RowContext } from './column.ts';

/** The time since the event was first seen. */
export function firstSeen(event: JsonObject, { nowMs }: RowContext): string {
  const first = event.firstTimestamp ?? event.deprecatedFirstTimestamp;
  return ageText(asTimeMs(first) === undefined ? event.eventTime : first, nowMs);
}

/** The time since it was last seen: of a series its latest sighting, else the only one there was. */
export function lastSeen(event: JsonObject, context: RowContext): string {
  if (isSeries(event)) return ageText(partAt(event, 'series').lastObservedTime, context.nowMs);
  const last = event.lastTimestamp ?? event.deprecatedLastTimestamp;
  return asTimeMs(last) === undefined ? firstSeen(event, context) : ageText(last, context.nowMs);
}

/** How often it was seen, at least once. */
export function eventCount(event: JsonObject): number {
  if (isSeries(event)) return numberAt(partAt(event, 'series'), 'count') + 1;
  return numberAt(event, 'count') || numberAt(event, 'deprecatedCount') || 1;
}

function isSeries(event: JsonObject): boolean {
  return event.series !== undefined && event.series !== null;
}

/** The object the event is about. */
export function involvedObject(event: JsonObject): JsonObject {
  return partAt(event, event.regarding === undefined ? 'involvedObject' : 'regarding');
}

/** `pod/web-1`. */
export function involvedText(event: JsonObject): string {
  const involved = involvedObject(event);
  const kind = textAt(involved, 'kind').toLowerCase();
  const name = textAt(involved, 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

/** `<component>, <host>` of whoever reported it. */
export function sourceText(event: JsonObject): string {
  const source = partAt(event, event.deprecatedSource === undefined ? 'source' : 'deprecatedSource');
  const reporter = textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const component = textAt(source, 'component', reporter);
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

export function messageText(event: JsonObject): string {
  return (textAt(event, 'message') || textAt(event, 'note')).trim();
}
