// How the versions of the audit group say an event. The JSON is put together here member by member, not by way of an object: with a
// policy for every request there are two of them for each, and what they cost is what auditing costs. Pure.
import type { User } from '../authorization/attributes.ts';
import { microTimeOf } from '../object-meta.ts';
import type { AuditEvent, AuditedObject, AuditedRequest, AuditedStatus, RequestTexts } from './event.ts';

export type AuditVersion = 'v1' | 'v1beta1' | 'v1alpha1';

const ALPHA: AuditVersion = 'v1alpha1';

/** Takes the parts of a text, in order: joined once, they leave nothing behind that each addition would. */
export type TextParts = string[];

/** Says events in one version of the audit group `group`, as JSON, without the members that they have nothing for. */
export function eventSayer(version: AuditVersion, group: string): (event: AuditEvent, parts: TextParts) => void {
  const beginning = `{"kind":"Event","apiVersion":${quoted(`${group}/${version}`)}`;
  const isOld = version !== 'v1';
  return (event, parts) => {
    const { request, stage, stageMs, impersonatedUser, responseStatus } = event;
    const { level, auditID, objectRef, receivedMs } = request;
    const { asked, from, about } = request.texts ?? requestTexts(request);
    parts.push(beginning);
    if (isOld) parts.push(',"metadata":{"creationTimestamp":"', time(receivedMs), '"}');
    parts.push(',"level":"', level);
    if (isOld) parts.push('","timestamp":"', time(stageMs));
    parts.push('","auditID":', quoted(auditID), ',"stage":"', stage, '"', asked);
    if (impersonatedUser !== undefined) parts.push(',"impersonatedUser":', userText(impersonatedUser));
    parts.push(from, version === ALPHA && objectRef !== undefined ? aboutText(version, objectRef) : about);
    if (responseStatus !== undefined) parts.push(',"responseStatus":', statusText(responseStatus));
    const { requestObject, responseObject, annotations } = event;
    if (requestObject !== undefined) parts.push(',"requestObject":', JSON.stringify(requestObject));
    if (responseObject !== undefined) parts.push(',"responseObject":', JSON.stringify(responseObject));
    parts.push(',"requestReceivedTimestamp":"', microTime(receivedMs), '","stageTimestamp":"', microTime(stageMs));
    parts.push('"', annotationsText(annotations), '}');
  };
}

/** See RequestTexts. */
export function requestTexts(
  of: Pick<AuditedRequest, 'requestURI' | 'verb' | 'user' | 'sourceIPs' | 'userAgent' | 'objectRef'>,
): RequestTexts {
  const { requestURI, verb, user, sourceIPs, userAgent, objectRef } = of;
  const who = user === null ? '{}' : userText(user);
  return {
    asked: `,"requestURI":${quoted(requestURI)},"verb":${quoted(verb)},"user":${who}`,
    from: fromText(sourceIPs, userAgent),
    about: objectRef === undefined ? '' : aboutText('v1', objectRef),
  };
}

/** Requests of one client come behind each other, and their addresses are the same list as long as that is so. */
let lastFrom: { readonly sourceIPs: readonly string[]; readonly userAgent: string; readonly text: string } | undefined;

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

/** Whoever asks again is the same object as long as the authenticator remembers them. */
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

function aboutText(version: AuditVersion, of: AuditedObject): string {
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

/** Of most answers nothing but the code. */
function statusText(of: AuditedStatus): string {
  const { code, status, message, reason, details } = of;
  const isCode = status === undefined && message === undefined && reason === undefined && details === undefined;
  return isCode && code !== undefined ? `{"metadata":{},"code":${code}}` : JSON.stringify({ metadata: {}, ...of });
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
