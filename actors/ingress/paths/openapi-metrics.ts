// Counts how often the document of OpenAPI v2 was made anew, and for whose sake: custom definitions and extension servers, by what
// became of them since it was made last. The original makes it with each change; here it is made when somebody asks for it.
import type { Definition } from '../../../api/custom/definitions/definition.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';

const BY_DEFINITION = 'apiextensions_openapi_v2_regeneration_count';
const BY_API_SERVICE = 'aggregator_openapi_v2_regeneration_count';
const DURATION = 'aggregator_openapi_v2_regeneration_duration';
const TIMES_HELP = 'How often the document of OpenAPI v2 was made anew, by who caused it and why.';
/** Stands for all APIServices, as in the original. */
const ALL = '*';

/** By name, what tells its part of the document from another. */
type Parts = ReadonlyMap<string, string>;

export class OpenApiMetrics {
  readonly #metrics: Metrics;
  #definitions: Parts = new Map();
  /** Undefined before the first document. */
  #apiServices: Parts | undefined;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /**
   * A document was made in `tookMs`.
   *
   * @param apiServices by APIService, what tells its server's document from another.
   */
  made(definitions: readonly Definition[], apiServices: Parts, tookMs: number): void {
    const present = new Map(definitions.map(({ name, uid, generation }) => [name, `${uid} ${generation}`]));
    for (const [crd, reason] of changes(this.#definitions, present, 'remove'))
      this.#metrics.counter(BY_DEFINITION, TIMES_HELP, { crd, reason }).add(1);
    this.#definitions = present;
    const changed =
      this.#apiServices === undefined
        ? [[ALL, 'startup'] as const]
        : [...changes(this.#apiServices, apiServices, 'delete')];
    this.#apiServices = apiServices;
    for (const [apiservice, reason] of changed) {
      this.#metrics.counter(BY_API_SERVICE, TIMES_HELP, { apiservice, reason }).add(1);
      const help = 'How long it took to make the document of OpenAPI v2 last, in seconds.';
      this.#metrics.gauge(DURATION, help, { reason }, 'max').set(tookMs / 1000);
    }
  }
}

/** What became of each name. */
function* changes(before: Parts, after: Parts, gone: string): Iterable<readonly [name: string, reason: string]> {
  for (const [name, part] of after) {
    const known = before.get(name);
    if (known === undefined) yield [name, 'add'];
    else if (known !== part) yield [name, 'update'];
  }
  for (const name of before.keys()) if (!after.has(name)) yield [name, gone];
}
