// Rules of events, in the core group and in their own. Both are stored as the same objects.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { qualifiedNameProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';

/** The fields that core and own group call differently. */
interface FieldNames {
  readonly regarding: string;
  readonly controller: string;
  readonly note: string;
}

const CORE: FieldNames = { regarding: 'involvedObject', controller: 'reportingComponent', note: 'message' };
const OWN: FieldNames = { regarding: 'regarding', controller: 'reportingController', note: 'note' };

const TEXT_BYTES_MAX = 128;
const NOTE_BYTES_MAX = 1024;

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** An event is in the namespace of what it is about; of what has none, in the default or the system one. */
function checkNamespace(event: JsonObject, names: FieldNames, isNew: boolean, at: Report): void {
  const { namespace = '' } = metadataOf(event);
  const about = ((event[names.regarding] ?? {}) as { namespace?: string }).namespace ?? '';
  const path = `${names.regarding}.namespace`;
  if (about !== '') {
    if (about !== namespace) at.invalid(path, about, 'does not match event.namespace');
  } else if (namespace !== 'default' && !(isNew && namespace === at.dialect.systemNamespace)) {
    at.invalid(path, about, 'does not match event.namespace');
  }
}

/** What events of the newer form must have. */
function checkReport(event: JsonObject, names: FieldNames, at: Report): void {
  const controller = (event[names.controller] ?? '') as string;
  // Whatever the form calls it, clients know the field by this name.
  const path = 'reportingController';
  if (controller === '') at.required(path);
  at.problems(path, controller, qualifiedNameProblems(controller));
  for (const member of ['reportingInstance', 'action', 'reason']) {
    const text = (event[member] ?? '') as string;
    if (text === '') at.required(member);
    else if (Buffer.byteLength(text) > TEXT_BYTES_MAX)
      at.invalid(member, '', `can have at most ${TEXT_BYTES_MAX} characters`);
  }
  const note = (event[names.note] ?? '') as string;
  if (Buffer.byteLength(note) > NOTE_BYTES_MAX)
    at.invalid('message', '', `can have at most ${NOTE_BYTES_MAX} characters`);
}

function eitherForm(names: FieldNames): Rule<JsonObject> {
  return (event, at) => {
    const isNew = isSet(event.eventTime);
    checkNamespace(event, names, isNew, at);
    if (isNew) checkReport(event, names, at);
  };
}

const SERIES_COUNT_MIN = 2;
/** Up to 1.25, client-go counts the second time that it tells of something as the first of a series: with it goes a patch of that. */
const CHANGED_SERIES_COUNT_MIN = 1;

interface Series {
  readonly count?: number;
  readonly lastObservedTime?: unknown;
}

function checkSeries({ count = 0, lastObservedTime }: Series, countMin: number, at: Report): void {
  if (count < countMin) at.invalid('count', '', 'should be at least 2');
  if (!isSet(lastObservedTime)) at.required('lastObservedTime');
}

const changedSeries: ChangeRule<Series | null | undefined> = (next, stored, at) => {
  if (next && !deepEqual(next, stored)) checkSeries(next, CHANGED_SERIES_COUNT_MIN, at);
};

const newForm: Rule<JsonObject> = (event, at) => {
  // What was written before the newer form keeps its old one.
  if (at.isUpdate) return;
  const series = event.series as Series | null | undefined;
  if (series) {
    at.enter('series');
    checkSeries(series, SERIES_COUNT_MIN, at);
    at.leave();
  }
  if (!isSet(event.eventTime)) at.required('eventTime');
  const { type = '' } = event as { type?: string };
  if (type !== 'Normal' && type !== 'Warning') at.invalid('type', '', `has invalid value: ${type}`);
  for (const member of ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp', 'deprecatedCount']) {
    const value = event[member];
    if (isSet(value) && value !== 0) at.invalid(member, '', 'needs to be unset');
  }
  const source = event.deprecatedSource as { component?: string; host?: string } | undefined;
  if (isSet(source?.component) || isSet(source?.host)) at.invalid('deprecatedSource', '', 'needs to be unset');
};

const ALL_BUT_SERIES = [
  'regarding',
  'reason',
  'note',
  'deprecatedSource',
  'deprecatedFirstTimestamp',
  'deprecatedLastTimestamp',
  'deprecatedCount',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
] as const;

const FIXED = { immutable: true } as const;

export const eventTypes: RuleTable = {
  'core/v1.Event': { rules: [eitherForm(CORE)] },
  'events/v1.Event': { rules: [eitherForm(OWN), newForm] },
  'events/v1beta1.Event': { rules: [eitherForm(OWN)] },
};

export const eventUpdates: ChangeTable = {
  'events/v1.Event': {
    fields: {
      series: { rules: [changedSeries] },
      ...Object.fromEntries(ALL_BUT_SERIES.map((member) => [member, FIXED])),
    },
  },
};
