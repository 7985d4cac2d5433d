// A webhook as its configuration describes it, read once: what it wants to hear of and how it is called. Configurations come
// as v1, whatever version they were written in. Pure.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asText, partAt, partsAt, setNumberAt, textAt, textsAt } from '../../../api/json/object-fields.ts';
import { type LabelSelector, labelSelectorFromObject } from '../../../api/selectors/label-selector.ts';

export interface HookRule {
  /** `CREATE`, … or `*`. */
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  /** `pods`, `pods/status`, `*`, `pods/*`, `*` + `/scale`, `*` + `/*`. */
  readonly resources: readonly string[];
  readonly scope: string;
}

/** Where a webhook is: an address, or a service of the cluster. */
export type HookAddress =
  | { readonly url: string }
  | { readonly namespace: string; readonly service: string; readonly port: number; readonly path: string };

export interface Hook {
  /** Tells it from every other: its configuration, its name, and which of that name it is. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  readonly rules: readonly HookRule[];
  /** Hears of an object also where it is written in another version than its rules name, and then in theirs. */
  readonly matchesEquivalent: boolean;
  readonly namespaces: LabelSelector;
  readonly objects: LabelSelector;
  readonly timeoutMs: number;
  /** A write goes on where the webhook cannot be asked. */
  readonly failsOpen: boolean;
  readonly supportsDryRun: boolean;
  /** It may be asked twice: it says of itself that being asked changes nothing. */
  readonly hasNoEffects: boolean;
  /** Of the reviews it takes the first that is spoken here; undefined: none is. */
  readonly reviewVersion: ReviewVersion | undefined;
  /** Asked again where another one has changed the object since. */
  readonly isReinvoked: boolean;
  readonly address: HookAddress;
  /** PEM; empty: the authorities of the host. */
  readonly caPem: string;
}

export type ReviewVersion = 'v1' | 'v1beta1';

const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'] satisfies ReviewVersion[];
const WITHOUT_SIDE_EFFECTS: readonly string[] = ['None', 'NoneOnDryRun'];
const TIMEOUT_SECONDS = 10;
const HTTPS_PORT = 443;

/** The webhooks of a configuration, in its order. Throws StatusError for a selector that cannot be read. */
export function hooksOf(configuration: JsonObject, configurationName: string): readonly Hook[] {
  const seen = new Map<string, number>();
  return partsAt(configuration, 'webhooks').map((webhook) => {
    const name = textAt(webhook, 'name');
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return { ...hookOf(webhook, name, `${configurationName}/${name}/${nth}`), configuration: configurationName };
  });
}

function hookOf(webhook: JsonObject, name: string, id: string): Omit<Hook, 'configuration'> {
  const client = partAt(webhook, 'clientConfig');
  return {
    id,
    name,
    rules: partsAt(webhook, 'rules').map(ruleOf),
    matchesEquivalent: textAt(webhook, 'matchPolicy') === 'Equivalent',
    namespaces: labelSelectorFromObject(webhook.namespaceSelector ?? {}),
    objects: labelSelectorFromObject(webhook.objectSelector ?? {}),
    timeoutMs: (setNumberAt(webhook, 'timeoutSeconds') ?? TIMEOUT_SECONDS) * 1000,
    failsOpen: textAt(webhook, 'failurePolicy') === 'Ignore',
    supportsDryRun: WITHOUT_SIDE_EFFECTS.includes(textAt(webhook, 'sideEffects')),
    hasNoEffects: textAt(webhook, 'sideEffects') === 'None',
    reviewVersion: textsAt(webhook, 'admissionReviewVersions').find((version) => REVIEW_VERSIONS.includes(version)) as
      | ReviewVersion
      | undefined,
    isReinvoked: textAt(webhook, 'reinvocationPolicy') === 'IfNeeded',
    address: addressOf(client),
    caPem: caPemOf(client),
  };
}

function ruleOf(rule: JsonObject): HookRule {
  return {
    operations: textsAt(rule, 'operations'),
    groups: textsAt(rule, 'apiGroups'),
    versions: textsAt(rule, 'apiVersions'),
    resources: textsAt(rule, 'resources'),
    scope: textAt(rule, 'scope', '*'),
  };
}

/** The authorities of a `clientConfig`. */
export function caPemOf({ caBundle }: JsonObject): string {
  return Buffer.from(asText(caBundle), 'base64').toString('utf8');
}

/** The address of a `clientConfig`. */
export function addressOf(client: JsonObject): HookAddress {
  const url = asText(client.url);
  if (url !== '') return { url };
  const service = partAt(client, 'service');
  const path = textAt(service, 'path');
  return {
    namespace: textAt(service, 'namespace'),
    service: textAt(service, 'name'),
    port: setNumberAt(service, 'port') ?? HTTPS_PORT,
    path: path.startsWith('/') ? path : `/${path}`,
  };
}
