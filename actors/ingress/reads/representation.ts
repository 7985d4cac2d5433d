// In which representation an answer goes out: what the client accepts, of what this server can make of stored objects.

import { type Schema, schemaOf } from '../../../api/schema/schema.ts';
import { badRequest, notAcceptable } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Shape } from '../../../api/table/shape.ts';
import { includeObjectProblem, parseIncludeObject, type RowType } from '../../../api/table/table.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { type EncodeValue, valueEncoder } from '../../../rendering/encode-value.ts';
import { hasProtobufForm, protobufTypeOf } from '../../../rendering/protobuf-value.ts';
import { Renderer } from '../../../rendering/renderer.ts';
import { type Rendering, type StoredAs, withoutConversion } from '../../../rendering/rendering.ts';
import type { Clock } from '../../../runtime/environment.ts';
import {
  type Choice,
  type Format,
  isPrettyRequest,
  negotiate,
  type Offer,
  offeredMediaTypes,
  type Transform,
  type TransformKind,
  takesOfferedType,
} from '../../../transport/negotiation.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** How a value of any kind goes out. */
export interface Encoded {
  readonly encoding: Format;
  readonly pretty: boolean;
  /** The answer's Content-Type. */
  readonly contentType: string;
  readonly encode: EncodeValue;
}

/** How objects of a type go out. */
export interface Representation extends Encoded {
  readonly rendering: Rendering;
  /** For whatever does not go out as the bytes it is stored as. */
  readonly renderer: Renderer;
}

/**
 * What an answer is about. A document is neither object nor list, and has one shape; of reviews, and of most of what lies
 * below objects, there is no Table.
 */
export type AnswerClass = 'document' | 'object' | 'tableless' | 'list' | 'watch';

const TRANSFORMS: Readonly<Record<AnswerClass, readonly TransformKind[]>> = {
  document: [],
  object: ['Table', 'PartialObjectMetadata'],
  tableless: ['PartialObjectMetadata'],
  list: ['Table', 'PartialObjectMetadataList'],
  watch: ['Table', 'PartialObjectMetadata'],
};
const EVERY_FORMAT: readonly Format[] = ['json', 'yaml', 'protobuf'];
const TEXT_FORMATS: readonly Format[] = ['json', 'yaml'];

type Offers = Readonly<Record<AnswerClass, Offer>>;

/** What the original's aggregator answers, and not who is behind it. */
const GROUP_KINDS: ReadonlySet<unknown> = new Set(['APIGroup', 'APIGroupList']);

export class Representations {
  readonly #dialect: Dialect;
  readonly #clock: Clock;
  readonly #offers: Offers;
  /** For types that no message stands for: of them there is one of their metadata alone. */
  readonly #textOffers: Offers;
  readonly #encoded = new Map<string, Encoded>();
  /** Of each type, by what was chosen; only those without a shape, which do not depend on the time. */
  readonly #plain = new WeakMap<RowType, Map<Encoded, Representation>>();

  constructor(dialect: Dialect, clock: Clock) {
    this.#dialect = dialect;
    this.#clock = clock;
    this.#offers = this.#offersIn(EVERY_FORMAT);
    this.#textOffers = this.#offersIn(EVERY_FORMAT, TEXT_FORMATS);
  }

  /**
   * For a document: a kind throws 406 when nothing the client accepts can be made of it; what has no message (versions, lists
   * of paths) is text, and JSON whatever the client would rather have. As Kubernetes writes it, such JSON is for people to
   * read, whoever asks.
   */
  ofDocument(exchange: Exchange, document: object): Encoded {
    if (hasProtobufForm(document, this.#schema())) {
      const isTold = GROUP_KINDS.has((document as { readonly kind?: unknown }).kind);
      return this.#encodedAs(this.#choose(exchange, this.#offers.document, isTold));
    }
    const choice = jsonUnless(exchange, this.#textOffers.document);
    return this.#encodedAs(choice.format === 'json' ? { ...choice, pretty: true } : choice);
  }

  /** For a Status that is not what was asked for: as JSON where nothing the client accepts can be made. */
  ofStatus(exchange: Exchange): Encoded {
    return this.#encodedAs(jsonUnless(exchange, this.#offers.document));
  }

  /**
   * For objects of a type. Throws 406 as above, and 400 for parameters of a shape that cannot be read.
   *
   * @param source what they are stored as, where that is another version; always the same of one type.
   */
  of(exchange: Exchange, answer: AnswerClass, type: RowType, source?: StoredAs): Representation {
    const isTold = type.form !== undefined;
    let choice = this.#choose(exchange, this.#offers[answer], isTold);
    if (choice.format === 'protobuf' && protobufTypeOf(this.#schema(), type) === undefined) {
      choice = this.#choose(exchange, this.#textOffers[answer], isTold);
    }
    const encoded = this.#encodedAs(choice);
    if (choice.transform === undefined) return this.#plainOf(type, source, encoded);
    return this.#represented(type, source, encoded, this.#shape(choice.transform, exchange));
  }

  #plainOf(type: RowType, source: StoredAs | undefined, encoded: Encoded): Representation {
    let ofType = this.#plain.get(type);
    if (ofType === undefined) {
      ofType = new Map();
      this.#plain.set(type, ofType);
    }
    let representation = ofType.get(encoded);
    if (representation === undefined) {
      representation = this.#represented(type, source, encoded, undefined);
      ofType.set(encoded, representation);
    }
    return representation;
  }

  #represented(
    { group, version, kind, form }: RowType,
    source: StoredAs | undefined,
    encoded: Encoded,
    shape: Shape | undefined,
  ): Representation {
    const { encoding, pretty, contentType, encode } = encoded;
    const target: RowType = form === undefined ? { group, version, kind } : { group, version, kind, form };
    const rendering: Rendering = {
      target,
      ...(source === undefined ? undefined : { source }),
      shape,
      encoding,
      pretty,
    };
    return { encoding, pretty, contentType, encode, rendering, renderer: new Renderer(rendering, this.#clock.nowMs()) };
  }

  /**
   * Who asks for groups, or objects of a custom type, is always told what there is (`isTold`), and who asks for others only where it is the
   * form that is missing.
   */
  #choose({ request, query }: Exchange, offer: Offer, isTold: boolean): Choice {
    const accept = request.header('accept');
    const choice = negotiate(accept, offer);
    if (choice === null) {
      const tells = isTold || takesOfferedType(accept, offer);
      throw new StatusError(notAcceptable(tells ? offeredMediaTypes(this.#refusing(accept, offer)) : []));
    }
    return offer.isWatch ? choice : indentedFor(choice, request.header('user-agent'), query.get('pretty'));
  }

  /** Whoever watches is refused as whoever lists, and only then because of what cannot be watched. */
  #refusing(accept: string, offer: Offer): Offer {
    if (!offer.isWatch) return offer;
    const { list } = offer === this.#textOffers.watch ? this.#textOffers : this.#offers;
    return negotiate(accept, list) === null ? list : offer;
  }

  #encodedAs({ format, pretty, contentType }: Choice): Encoded {
    const key = pretty ? `pretty ${contentType}` : contentType;
    let encoded = this.#encoded.get(key);
    if (encoded === undefined) {
      encoded = {
        encoding: format,
        pretty,
        contentType,
        encode: valueEncoder(format, pretty, () => this.#schema()),
      };
      this.#encoded.set(key, encoded);
    }
    return encoded;
  }

  #shape({ kind, group, version }: Transform, { query }: Exchange): Shape {
    const parameter = kind === 'Table' ? query.get('includeObject') : undefined;
    const includeObject = parseIncludeObject(parameter);
    if (includeObject === undefined) throw new StatusError(badRequest(includeObjectProblem(parameter ?? '')));
    return { kind, metaGroup: group, version, includeObject, dialect: this.#dialect.name };
  }

  #schema(): Schema {
    return schemaOf(this.#dialect);
  }

  #offersIn(formats: readonly Format[], plainFormats = formats): Offers {
    const offer = (answer: AnswerClass): Offer => ({
      formats: answer === 'watch' ? formats.filter((format) => format !== 'yaml') : formats,
      plainFormats,
      protobufMediaType: this.#dialect.protobufMediaType,
      transforms: TRANSFORMS[answer],
      isWatch: answer === 'watch',
    });
    return {
      document: offer('document'),
      object: offer('object'),
      tableless: offer('tableless'),
      list: offer('list'),
      watch: offer('watch'),
    };
  }
}

const JSON_CHOICE: Choice = { format: 'json', contentType: 'application/json', pretty: false };

/** What the client accepts of an offer, JSON where that is nothing. */
function jsonUnless({ request, query }: Exchange, offer: Offer): Choice {
  const choice = negotiate(request.header('accept'), offer) ?? JSON_CHOICE;
  return indentedFor(choice, request.header('user-agent'), query.get('pretty'));
}

function indentedFor(choice: Choice, userAgent: string, prettyParameter: string | undefined): Choice {
  if (choice.pretty || choice.format !== 'json') return choice;
  return isPrettyRequest(prettyParameter ?? null, userAgent) ? { ...choice, pretty: true } : choice;
}

const plain = new WeakMap<Representation, Representation>();

/** The same for records that lie in the version asked for. */
export function unconverted(representation: Representation): Representation {
  let without = plain.get(representation);
  if (without === undefined) {
    const rendering = withoutConversion(representation.rendering);
    without = { ...representation, rendering, renderer: new Renderer(rendering, representation.renderer.nowMs) };
    plain.set(representation, without);
  }
  return without;
}
