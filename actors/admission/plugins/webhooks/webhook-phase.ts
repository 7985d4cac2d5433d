// What both webhook plugins share: the webhooks that hear of a write, and the calls of them.
import type { EncodedTexts } from '../../../../api/codec/encoded-texts.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { CredentialsByService } from '../../../../transport/outgoing/connection-file.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import type { ConversionParts } from '../../conversion/converted.ts';
import type { PluginContext } from '../plugin.ts';
import { HookCaller } from './hook-caller.ts';
import type { HookPhase } from './hook-metrics.ts';
import { Hooks } from './hooks.ts';
import type { Invocation } from './matching.ts';
import { isSelected } from './subject.ts';
import { ToldVersions } from './told-versions.ts';

type Labels = Readonly<Record<string, string>>;

const NO_LABELS: Labels = Object.freeze({});

export class WebhookPhase {
  readonly caller: HookCaller;
  readonly #hooks: Hooks;
  readonly #labels: KindView<Labels>;
  readonly #conversion: ConversionParts;

  /** @param plural of the configurations. */
  constructor(context: PluginContext, byService: CredentialsByService | undefined, plural: string, phase: HookPhase) {
    this.#conversion = context;
    const { egress = {}, shownToServices: standard, ownService } = context.options;
    const { dialect } = context.registry;
    this.caller = new HookCaller(context, phase, { byService, standard, egress, dialect, ownService });
    this.#hooks = new Hooks(plural, context, (hooks) => this.caller.clients.keepOnly(hooks));
    this.#labels = context.cluster.follow('v1/namespaces', (namespace) => metadataOf(namespace).labels ?? NO_LABELS);
  }

  /** The webhooks whose rules are about such a write, in their order. */
  invocations({ type, subresource, asked }: Attributes): readonly Invocation[] {
    return this.#hooks.for(type, subresource, asked.operation);
  }

  /** Whether a webhook's selectors select the write. Throws 404 for a namespace that is not there. */
  selects({ hook }: Invocation, attributes: Attributes): boolean {
    return isSelected(hook, attributes, (namespace) => this.#labels.get('', namespace));
  }

  /** What so many webhooks may be told of a write. */
  versions(attributes: Attributes, webhooks: number, texts?: EncodedTexts): ToldVersions {
    return new ToldVersions(attributes, this.#conversion, webhooks, texts);
  }
}
