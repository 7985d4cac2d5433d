// How the versions of the audit group say an event. The JSON is put together here member by member, not by way of an object: with a
// policy for every request there are two of them for each, and what they cost is what auditing costs. Pure.
import type { AuditLevel, AuditStage } from '../../config/audit-policy.ts';
import type { User } from '../authorization/attributes.ts';
import { microTimeOf } from '../metadata/object-meta.ts';
import type { AuditEvent, AuditedObject, AuditedRequest, AuditedStatus, RequestTexts } from './event.ts';

export type AuditVersion = 'v1' | 'v1beta1' | 'v1alpha1';

const ALPHA: AuditVersion = 'v1alpha1';

/** Parts beyond these are given back with their text. */
const PARTS_KEPT_MAX = 16 * 1024;

/**
 * Takes the parts of a text and joins them once, which leaves nothing behind that each addition would; its room is used again for
 * the next text.
 */
export class TextParts {
  #parts: string[] = [];
  #count = 0;

  add(part: string): void {
    this.#parts[this.#count++] = part;
  }

  /** The text of all parts; the next one begins with none. */
  take(): string {
    const parts = this.#parts.slice(0, this.#count);
    this.#count = 0;
    if (this.#parts.length > PARTS_KEPT_MAX) this.#parts = [];
    return parts.join('');
  }
}

/** Says events in one version of the audit group `group`, as JSON, without the members that they have nothing for. */
export function eventSayer(version: AuditVersion, group: string): (event: AuditEvent, text: TextParts) => void {
  const beginnings = new Map<AuditLevel, string>();
  const beginningOf = (level: AuditLevel): string => {
    let text = beginnings.get(level);
    if (text === undefined) {
      text = `{"kind":"Event","apiVersion":${quoted(`${group}/${version}`)},"level":"${level}"`;
      beginnings.set(level, text);
    }
    return text;
  };
  return (event, text) => {
    const { request, stage, impersonatedUser, responseStatus, requestObject, responseObject } = event;
    const { level, objectRef } = request;
    const { asked, from, about } = request.texts ?? requestTexts(request);
    text.add(beginningOf(level));
    if (version !== 'v1') text.add(oldTimes(event));
    text.add(',"auditID":');
    text.add(quoted(request.auditID));
    text.add(STAGES[stage]);
    text.add(asked);
    if (impersonatedUser !== undefined) text.add(`,"impersonatedUser":${userText(impersonatedUser)}`);
    text.add(from);
    text.add(version === ALPHA && objectRef !== undefined ? newAboutText(version, objectRef) : about);
    if (responseStatus !== undefined) text.add(statusText(responseStatus));
    if (requestObject !== undefined) text.add(`,"requestObject":${JSON.stringify(requestObject)}`);
    if (responseObject !== undefined) text.add(`,"responseObject":${JSON.stringify(responseObject)}`);
    text.add(timesText(request.receivedMs, event.stageMs));
    text.add(annotationsText(event.annotations));
    text.add('}');
  };
}

const STAGES: Readonly<Record<AuditStage, string>> = {
  RequestReceived: ',"stage":"RequestReceived"',
  ResponseStarted: ',"stage":"ResponseStarted"',
  ResponseComplete: ',"stage":"ResponseComplete"',
  Panic: ',"stage":"Panic"',
};

/** What the versions before v1 say besides. */
function oldTimes({ request, stageMs }: AuditEvent): string {
  return `,"metadata":{"creationTimestamp":"${time(request.receivedMs)}"},"timestamp":"${time(stageMs)}"`;
}

let lastTimes = { receivedMs: Number.NaN, stageMs: Number.NaN, text: '' };

/** Many events come within a millisecond. */
function timesText(receivedMs: number, stageMs: number): string {
  if (lastTimes.receivedMs !== receivedMs || lastTimes.stageMs !== stageMs) {
    const text = `,"requestReceivedTimestamp":"${microTime(receivedMs)}","stageTimestamp":"${microTime(stageMs)}"`;
    lastTimes = { receivedMs, stageMs, text };
  }
  return lastTimes.text;
}

/** See RequestTexts. */
export function requestTexts(
  of: Pick<AuditedRequest, 'requestURI' | 'verb' | 'user' | 'sourceIPs' | 'userAgent' | 'objectRef'>,
): RequestTexts {
  const { requestURI, verb, user, sourceIPs, userAgent, objectRef } = of;
  const uri = PLAIN.test(requestURI) ? `,"requestURI":"${requestURI}"` : `,"requestURI":${JSON.stringify(requestURI)}`;
  return {
    asked: uri + whoText(verb, user),
    from: fromText(sourceIPs, userAgent),
    about: objectRef === undefined ? '' : aboutText(objectRef),
  };
}

// Requests behind each other have much in common: what was made last of each kind is made again only where it is another.

let lastWho: { readonly verb: string; readonly user: User | null; readonly text: string } | undefined;

/** Who asks again is the same object as long as the authenticator remembers them. */
function whoText(verb: string, user: User | null): string {
  if (lastWho?.user !== user || lastWho.verb !== verb)
    lastWho = { verb, user, text: `,"verb":${quoted(verb)},"user":${user === null ? '{}' : userText(user)}` };
  return lastWho.text;
}

let lastAbout: { readonly of: AuditedObject; readonly before: string; readonly after: string } | undefined;

/** Of objects that differ by their names alone, what stands around those. */
function aboutText(of: AuditedObject): string {
  if (of.name === '' || !PLAIN.test(of.name)) return newAboutText('v1', of);
  if (lastAbout === undefined || !isAlike(lastAbout.of, of)) {
    const [before = '', after, ...others] = newAboutText('v1', { ...of, name: MARK }).split(MARK_TEXT);
    // What else has the mark in it is said anew each time.
    if (after === undefined || others.length > 0) return newAboutText('v1', of);
    lastAbout = { of, before, after };
  }
  return lastAbout.before + of.name + lastAbout.after;
}

const MARK = '\u0001';
const MARK_TEXT = JSON.stringify(MARK).slice(1, -1);

function isAlike(one: AuditedObject, other: AuditedObject): boolean {
  return (
    one.resource === other.resource &&
    one.namespace === other.namespace &&
    one.apiVersion === other.apiVersion &&
    one.apiGroup === other.apiGroup &&
    one.subresource === other.subresource &&
    one.uid === other.uid &&
    one.resourceVersion === other.resourceVersion
  );
}

let lastFrom: { readonly sourceIPs: readonly string[]; readonly userAgent: string; readonly text: string } | undefined;

/** The addresses of requests of one client are the same list. */
function fromText(sourceIPs: readonly string[], userAgent: string): string {
  if (lastFrom?.sourceIPs !== sourceIPs || lastFrom.userAgent !== userAgent) {
    const addresses = sourceIPs.length > 0 ? `,"sourceIPs":${list(sourceIPs)}` : '';
    const text = userAgent === '' ? addresses : `${addresses},"userAgent":${quoted(userAgent)}`;
    lastFrom = { sourceIPs, userAgent, text };
  }
  return lastFrom.text;
}

/** Several of them, as a webhook is sent them. */
export function eventListText(version: AuditVersion, group: string, items: readonly string[]): string {
  return `{"kind":"EventList","apiVersion":${quoted(`${group}/${version}`)},"metadata":{},"items":[${items.join()}]}`;
}

const userTexts = new WeakMap<User, string>();

function userText(user: User): string {
  let text = userTexts.get(user);
  if (text === undefined) {
    text = newUserText(user);
    userTexts.set(user, text);
  }
  return text;
}

function newUserText({ name, uid, groups, extra }: User): string {
  let text = `{"username":${quoted(name)}`;
  if (uid !== '') text += `,"uid":${quoted(uid)}`;
  if (groups.length > 0) text += `,"groups":${list(groups)}`;
  for (const _key in extra) return `${text},"extra":${JSON.stringify(extra)}}`;
  return `${text}}`;
}

function newAboutText(version: AuditVersion, of: AuditedObject): string {
  const { resource, namespace, name, uid, apiGroup, apiVersion, resourceVersion, subresource } = of;
  let text = `,"objectRef":{"resource":${quoted(resource)}`;
  if (namespace !== '') text += `,"namespace":${quoted(namespace)}`;
  if (name !== '') text += `,"name":${quoted(name)}`;
  if (uid !== '') text += `,"uid":${quoted(uid)}`;
  if (version === ALPHA) text += `,"apiVersion":${quoted(apiGroup === '' ? apiVersion : `${apiGroup}/${apiVersion}`)}`;
  else if (apiGroup === '') text += `,"apiVersion":${quoted(apiVersion)}`;
  else text += `,"apiGroup":${quoted(apiGroup)},"apiVersion":${quoted(apiVersion)}`;
  if (resourceVersion !== '') text += `,"resourceVersion":${quoted(resourceVersion)}`;
  if (subresource !== '') text += `,"subresource":${quoted(subresource)}`;
  return `${text}}`;
}

const codeTexts = new Map<number, string>();
/** Of HTTP (RFC 9110 section 15). */
const CODE_MAX = 599;

/** Of most answers nothing but the code. */
function statusText(of: AuditedStatus): string {
  const { code, status, message, reason, details } = of;
  const isCode = status === undefined && message === undefined && reason === undefined && details === undefined;
  const known = isCode && code !== undefined ? codeTexts.get(code) : undefined;
  if (known !== undefined) return known;
  const text = `,"responseStatus":${JSON.stringify({ metadata: {}, ...of })}`;
  if (isCode && code !== undefined && code <= CODE_MAX) codeTexts.set(code, text);
  return text;
}

/** Requests that are admitted for the same reason share them. */
let lastAnnotations: AuditEvent['annotations'] = {};
let lastAnnotationsText = '';

function annotationsText(annotations: AuditEvent['annotations']): string {
  if (annotations === lastAnnotations) return lastAnnotationsText;
  const keys = Object.keys(annotations);
  if (keys.length === 0) return '';
  lastAnnotationsText = newAnnotationsText(annotations, keys);
  lastAnnotations = annotations;
  return lastAnnotationsText;
}

function newAnnotationsText(annotations: AuditEvent['annotations'], keys: string[]): string {
  if (keys.some((key, at) => at > 0 && key < keys[at - 1]!)) keys.sort();
  let text = '';
  for (const key of keys) text += `${text === '' ? '' : ','}${quoted(key)}:${quoted(annotations[key]!)}`;
  return `,"annotations":{${text}}`;
}

function list(texts: readonly string[]): string {
  return texts.length === 1 ? `[${quoted(texts[0]!)}]` : `[${texts.map(quoted).join()}]`;
}

const PLAIN = /^[ !#-[\]-~]*$/;

/** As JSON has a text. Most are plain: no more than looked at. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Moments that were said lately, by their last bits. Events of a request come within few milliseconds, and of many requests at once. */
const MOMENTS = 256;
const moments = new Float64Array(MOMENTS).fill(Number.NaN);
const momentTexts = new Array<string>(MOMENTS).fill('');

/** As `microTimeOf`. */
function microTime(ms: number): string {
  const at = (ms % MOMENTS) | 0;
  if (moments[at] !== ms) {
    momentTexts[at] = microTimeOf(ms);
    moments[at] = ms;
  }
  return momentTexts[at]!;
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}
