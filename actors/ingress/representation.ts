// In which representation an answer goes out: what the client accepts, of what this server can make of stored objects.
import { badRequest, notAcceptable } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { type Shape, Shaping } from '../../api/table/shape.ts';
import { includeObjectProblem, parseIncludeObject, type RowType } from '../../api/table/table.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Clock } from '../../runtime/environment.ts';
import {
  type Choice,
  type Format,
  isPrettyRequest,
  negotiate,
  type Offer,
  offeredMediaTypes,
  type Transform,
  type TransformKind,
} from '../../transport/negotiation.ts';
import type { Exchange } from './exchange.ts';

export interface Representation extends Choice {
  /** Brings the object or list into the shape the client asked for; absent: it goes out as it is. */
  readonly shaping?: Shaping;
}

/** What an answer is about. A document is neither object nor list, and has one shape. */
export type AnswerClass = 'document' | 'object' | 'list' | 'watch';

const TRANSFORMS: Readonly<Record<AnswerClass, readonly TransformKind[]>> = {
  document: [],
  object: ['Table', 'PartialObjectMetadata'],
  list: ['Table', 'PartialObjectMetadataList'],
  watch: ['Table', 'PartialObjectMetadata'],
};

export class Representations {
  readonly #dialect: Dialect;
  readonly #clock: Clock;
  readonly #offers: Readonly<Record<AnswerClass, Offer>>;

  constructor(dialect: Dialect, clock: Clock) {
    this.#dialect = dialect;
    this.#clock = clock;
    this.#offers = {
      document: this.#offer('document'),
      object: this.#offer('object'),
      list: this.#offer('list'),
      watch: this.#offer('watch'),
    };
  }

  /** For a document. Throws 406 when nothing the client accepts can be made. */
  ofDocument(exchange: Exchange): Representation {
    return this.#choose(exchange, 'document');
  }

  /** For objects of a type. Throws 406 as above, and 400 for parameters of a shape that cannot be read. */
  of(exchange: Exchange, answer: AnswerClass, type: RowType): Representation {
    const choice = this.#choose(exchange, answer);
    if (choice.transform === undefined) return choice;
    const shaping = new Shaping(this.#shape(choice.transform, exchange), type, this.#clock.nowMs());
    return { ...choice, shaping };
  }

  #choose(exchange: Exchange, answer: AnswerClass): Choice {
    const offer = this.#offers[answer];
    const { request, query } = exchange;
    const choice = negotiate(request.header('accept'), offer);
    if (choice === null) throw new StatusError(notAcceptable(offeredMediaTypes(offer)));
    if (answer === 'watch' || choice.pretty) return choice;
    return isPrettyRequest(query.get('pretty') ?? null, request.header('user-agent'))
      ? { ...choice, pretty: true }
      : choice;
  }

  #shape({ kind, group, version }: Transform, { query }: Exchange): Shape {
    const parameter = kind === 'Table' ? query.get('includeObject') : undefined;
    const includeObject = parseIncludeObject(parameter);
    if (includeObject === undefined) throw new StatusError(badRequest(includeObjectProblem(parameter ?? '')));
    return { kind, metaGroup: group, version, includeObject, dialect: this.#dialect.name };
  }

  #offer(answer: AnswerClass): Offer {
    const isWatch = answer === 'watch';
    const formats: readonly Format[] = isWatch ? ['json'] : ['json', 'yaml'];
    return {
      formats,
      protobufMediaType: this.#dialect.protobufMediaType,
      transforms: TRANSFORMS[answer],
      isWatch,
    };
  }
}
