// In which representation an answer goes out: what the client accepts, of what this server can make of stored objects.
import { notAcceptable } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { Dialect } from '../../config/dialect.ts';
import { type Choice, isPrettyRequest, negotiate, type Offer, offeredMediaTypes } from '../../transport/negotiation.ts';
import type { Exchange } from './exchange.ts';

export type Representation = Choice;

export class Representations {
  readonly #objects: Offer;
  readonly #watches: Offer;

  constructor(dialect: Dialect) {
    const { protobufMediaType } = dialect;
    this.#objects = { formats: ['json', 'yaml'], protobufMediaType, transforms: [], isWatch: false };
    this.#watches = { formats: ['json'], protobufMediaType, transforms: [], isWatch: true };
  }

  /** Throws 406 when nothing the client accepts can be made. */
  of(exchange: Exchange, isWatch: boolean): Representation {
    const offer = isWatch ? this.#watches : this.#objects;
    const { request, query } = exchange;
    const choice = negotiate(request.header('accept'), offer);
    if (choice === null) throw new StatusError(notAcceptable(offeredMediaTypes(offer)));
    if (isWatch || choice.pretty) return choice;
    return isPrettyRequest(query.get('pretty') ?? null, request.header('user-agent'))
      ? { ...choice, pretty: true }
      : choice;
  }
}
