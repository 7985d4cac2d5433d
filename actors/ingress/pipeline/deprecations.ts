// The signals that a request used a version on its way out (SPEC.md "Deprecation signals"): a Warning header for whoever
// sent it, an annotation for the audit record, a metric for the operator. Which versions those are is api/resources.
import { deprecationWarning } from '../../../api/resources/deprecation.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { ResponseWithHeaders } from '../exchange/response-with-headers.ts';
import { warningHeader } from '../reads/answers.ts';

/** What is said of one type and one of its subresources. */
interface Signals {
  readonly header: readonly [name: string, value: string];
  readonly annotations: Readonly<Record<string, string>>;
}

export class Deprecations {
  readonly #registry: Registry;
  readonly #metrics: Metrics;
  readonly #sendsWarnings: boolean;
  /** By subresource; null: nothing is to be said. */
  readonly #signals = new WeakMap<KnownType, Map<string, Signals | null>>();

  /** `sendsWarnings`: feature gate WarningHeaders. */
  constructor(registry: Registry, metrics: Metrics, sendsWarnings: boolean) {
    this.#registry = registry;
    this.#metrics = metrics;
    this.#sendsWarnings = sendsWarnings;
  }

  /**
   * Gives the signals of a request, before anything is answered. Of one that is not served there are none, but for the warning of a custom
   * type's version: what stands in its path is the client's choice.
   */
  signal(exchange: Exchange, type: KnownType, subresource: string, isServed: boolean): void {
    if (type.lifecycle.deprecatedIn === null) return;
    if (!isServed) {
      const text = type.custom === undefined ? undefined : deprecationWarning(type, this.#registry.minorRelease);
      if (text !== undefined) this.#warn(exchange, warningHeader(text));
      return;
    }
    let ofType = this.#signals.get(type);
    if (ofType === undefined) {
      ofType = new Map();
      this.#signals.set(type, ofType);
    }
    let signals = ofType.get(subresource);
    if (signals === undefined) {
      signals = this.#signalsOf(type, subresource);
      ofType.set(subresource, signals);
    }
    if (signals === null) return;
    exchange.auditAnnotations = { ...exchange.auditAnnotations, ...signals.annotations };
    this.#warn(exchange, signals.header);
  }

  #warn(exchange: Exchange, header: Signals['header']): void {
    if (this.#sendsWarnings) exchange.response = new ResponseWithHeaders(exchange.response, [header]);
  }

  /** Made once: the metric says that there was a request, not how many. */
  #signalsOf(type: KnownType, subresource: string): Signals | null {
    const { minorRelease, dialect } = this.#registry;
    const text = deprecationWarning(type, minorRelease);
    // A subresource of a kind of its own (Scale) has that kind's life, but for custom types, whose versions are old as a whole.
    const kind = subresource === '' || type.custom !== undefined ? type.kind : type.subresources.get(subresource)?.kind;
    if (text === undefined || kind !== type.kind) return null;
    const { group, version, plural: resource, lifecycle } = type;
    const removedIn = lifecycle.removedIn ?? '';
    this.#metrics
      .gauge(
        'apiserver_requested_deprecated_apis',
        'Deprecated APIs that have been requested, with the release that stops serving them.',
        { group, version, resource, subresource, removed_release: removedIn },
        'max',
      )
      .set(1);
    const removal = removedIn === '' ? undefined : { [dialect.spell('@group/removed-release')]: removedIn };
    return {
      header: warningHeader(text),
      annotations: { [dialect.spell('@group/deprecated')]: 'true', ...removal },
    };
  }
}
