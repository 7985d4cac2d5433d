// Which representation a client gets: the Accept header against what an endpoint offers (SPEC.md "Content negotiation",
// RFC 9110 12.5.1). Chooses only; encoding, and what a Table of a kind looks like, is done elsewhere.
import { META_GROUPS } from '../config/dialect.ts';
import { keep } from '../values/kept.ts';
import { type MediaType, parseMediaType, splitOutsideQuotes } from './media-type.ts';

export type Format = 'json' | 'yaml' | 'protobuf';
export type TransformKind = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** Another shape of the answer, spoken in the group name that the client asked for. */
export interface Transform {
  readonly kind: TransformKind;
  /** The meta group of either dialect. */
  readonly group: string;
  readonly version: 'v1' | 'v1beta1';
}

export interface Choice {
  readonly format: Format;
  readonly transform?: Transform;
  /** The answer's Content-Type. */
  readonly contentType: string;
  /** The Accept clause asked for indented text (`;pretty=1`); see also `isPrettyRequest`. */
  readonly pretty: boolean;
}

/** What an endpoint can answer with. Make one per endpoint class and keep it: it remembers the choices made. */
export interface Offer {
  /** In the order of the endpoint's preference: the first answers a client that takes anything. */
  readonly formats: readonly Format[];
  /** Those in which there is more than transforms; absent: all. */
  readonly plainFormats?: readonly Format[];
  /** `Dialect.protobufMediaType`. */
  readonly protobufMediaType: string;
  readonly transforms: readonly TransformKind[];
  /** A watch: YAML is not offered, and only clients of streams ask for `stream=watch`. */
  readonly isWatch: boolean;
}

/** One part of an Accept header. */
export interface AcceptClause extends MediaType {
  /** Quality from 0 to 1. */
  readonly q: number;
}

/** Clauses of one header that are considered; the rest is not read. */
const CLAUSES_MAX = 64;

/** Different Accept headers remembered per offer, and the longest remembered: clients send a handful of short ones. */
const REMEMBERED_MAX = 256;
const REMEMBERED_LENGTH_MAX = 512;

/** The choices made for one offer. */
interface Remembered {
  readonly byHeader: Map<string, Choice | null>;
  /** As a rule the next request brings the same. */
  lastHeader: string;
  lastChoice: Choice | null;
}

const remembered = new WeakMap<Offer, Remembered>();

/**
 * The choice for an Accept header, or null when nothing offered is acceptable (406). The first clause that can be served
 * wins, in the order of `parseAccept`; one with a transform or parameter that is not offered is passed over.
 */
export function negotiate(header: string, offer: Offer): Choice | null {
  let choices = remembered.get(offer);
  if (choices === undefined) {
    choices = { byHeader: new Map(), lastHeader: '', lastChoice: choose('', offer) };
    remembered.set(offer, choices);
  }
  if (header === choices.lastHeader) return choices.lastChoice;
  if (header.length > REMEMBERED_LENGTH_MAX) return choose(header, offer);
  const choice = rememberedChoice(header, offer, choices.byHeader);
  choices.lastHeader = header;
  choices.lastChoice = choice;
  return choice;
}

function rememberedChoice(header: string, offer: Offer, choices: Map<string, Choice | null>): Choice | null {
  const known = choices.get(header);
  if (known !== undefined) return known;
  const choice = choose(header, offer);
  keep(choices, REMEMBERED_MAX, header, choice);
  return choice;
}

/** Accept clauses that allow anything, best first: by q, then named types before wildcards, then as sent. */
export function parseAccept(header: string): AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const part of splitOutsideQuotes(header, ',', CLAUSES_MAX)) {
    const { type, parameters } = parseMediaType(part);
    const q = quality(parameters.get('q'));
    if (type !== '' && q > 0) clauses.push({ type, parameters, q });
  }
  return clauses.sort((a, b) => b.q - a.q || wildcards(a.type) - wildcards(b.type));
}

/** The media types an offer names, for the text of a 406: those in which there are only transforms as well. */
export function offeredMediaTypes(offer: Offer): string[] {
  const ending = offer.isWatch ? ';stream=watch' : '';
  return servedFormats(offer).map((format) => mediaTypeOf(format, offer) + ending);
}

/** True where a client takes a media type that is served, though perhaps not here, or not in the form that it asks for. */
export function takesOfferedType(header: string, offer: Offer): boolean {
  const types = EVERY_FORMAT.map((format) => mediaTypeOf(format, offer));
  return parseAccept(header).some((clause) => types.some((type) => matches(clause.type, type)));
}

/**
 * True when the request wants indented text: `pretty` in the query decides if it is there, else the user agent of a
 * person at a terminal or browser does.
 */
export function isPrettyRequest(prettyParameter: string | null, userAgent: string): boolean {
  if (prettyParameter !== null && prettyParameter !== '') return TRUE_WORDS.has(prettyParameter);
  for (const agent of PRETTY_AGENTS) if (userAgent.startsWith(agent)) return true;
  return false;
}

const EVERY_FORMAT: readonly Format[] = ['json', 'yaml', 'protobuf'];
const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'True', 'TRUE']);
const PRETTY_AGENTS: readonly string[] = ['curl', 'Wget', 'Mozilla/5.0'];

const META_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);

function choose(header: string, offer: Offer): Choice | null {
  const formats = servedFormats(offer);
  const preferred = formats[0];
  if (header.trim() === '') return preferred === undefined ? null : choiceOf(preferred, offer, undefined, false);
  for (const clause of parseAccept(header)) {
    for (const format of formats) {
      if (!matches(clause.type, mediaTypeOf(format, offer))) continue;
      const choice = withParameters(clause, format, offer);
      if (choice !== null) return choice;
    }
  }
  return null;
}

function withParameters(clause: AcceptClause, format: Format, offer: Offer): Choice | null {
  const { parameters } = clause;
  const stream = parameters.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || format === 'yaml')) return null;
  if ((parameters.get('sv') ?? '') !== '') return null;
  const asksTransform = parameters.has('as') || parameters.has('g') || parameters.has('v');
  const transform = asksTransform ? transformOf(parameters, format, offer) : undefined;
  if (transform === null || (transform === undefined && !isPlain(format, offer))) return null;
  return choiceOf(format, offer, transform, parameters.get('pretty') === '1');
}

/** The transform a clause asks for, or null when it cannot be served: all three parameters are needed. */
function transformOf(parameters: ReadonlyMap<string, string>, format: Format, offer: Offer): Transform | null {
  const kind = offer.transforms.find((offered) => offered === parameters.get('as'));
  const group = parameters.get('g') ?? '';
  const version = parameters.get('v') ?? '';
  if (kind === undefined || !META_GROUPS.includes(group) || !META_VERSIONS.has(version)) return null;
  // Cells of a Table are of any type, which Protobuf has no message for.
  if (kind === 'Table' && format === 'protobuf') return null;
  return { kind, group, version: version as Transform['version'] };
}

function choiceOf(format: Format, offer: Offer, transform: Transform | undefined, pretty: boolean): Choice {
  const mediaType = mediaTypeOf(format, offer);
  const contentType = offer.isWatch && format === 'protobuf' ? `${mediaType};stream=watch` : mediaType;
  return { format, contentType, pretty: pretty && !offer.isWatch, ...(transform === undefined ? {} : { transform }) };
}

function servedFormats(offer: Offer): readonly Format[] {
  return offer.isWatch ? offer.formats.filter((format) => format !== 'yaml') : offer.formats;
}

function isPlain(format: Format, { plainFormats }: Offer): boolean {
  return plainFormats === undefined || plainFormats.includes(format);
}

function mediaTypeOf(format: Format, offer: Offer): string {
  return format === 'protobuf' ? offer.protobufMediaType : `application/${format}`;
}

function matches(accepted: string, offered: string): boolean {
  if (accepted === offered || accepted === '*/*') return true;
  return accepted.endsWith('/*') && offered.startsWith(accepted.slice(0, -1));
}

function wildcards(type: string): number {
  if (type === '*/*') return 2;
  return type.endsWith('/*') ? 1 : 0;
}

/** A quality that is no number counts as 1, as if it had not been given; RFC 9110 limits it to the range 0 to 1. */
function quality(text: string | undefined): number {
  if (text === undefined) return 1;
  const q = Number(text);
  return text === '' || Number.isNaN(q) ? 1 : Math.min(1, Math.max(0, q));
}
