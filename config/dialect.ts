// The two vocabularies the API can be spoken in, and the only file that spells a brand. Everything else writes the
// markers of `spell`, or asks the dialect for a ready name.
import { keep } from '../values/kept.ts';

export type DialectName = 'orch' | 'kubernetes';

/** One row of the table: every identifier that carries the brand. */
export interface Dialect {
  readonly name: DialectName;
  /** Suffix of API groups: `rbac.authorization.<groupDomain>`. */
  readonly groupDomain: string;
  /** Suffix of label, annotation, taint and finalizer prefixes: `<labelDomain>/metadata.name`. */
  readonly labelDomain: string;
  /** The control plane's own service and the namespace finalizer. */
  readonly brand: string;
  /** Prefix of system names: `<short>-system`, `system:<short>-scheduler`. */
  readonly short: string;
  /** The node agent, as in `<nodeAgent>Version` and `<nodeAgent>Endpoint`. */
  readonly nodeAgent: string;
  readonly systemNamespace: string;
  readonly publicNamespace: string;
  readonly nodeLeaseNamespace: string;
  /** `application/vnd.<…>.protobuf`. */
  readonly protobufMediaType: string;
  /** Group of Table, Status options and PartialObjectMetadata: `meta.<groupDomain>`. */
  readonly metaGroup: string;
  /** Prefix of OpenAPI extensions, with the closing dash. */
  readonly openapiExtensionPrefix: string;
  /** Prefix of OpenAPI definition names: `io.<…>`. */
  readonly openapiNamePrefix: string;
  /** What encrypted values in the store begin with: `<…>:enc:`. */
  readonly encryptionPrefix: string;
  /** `/version`'s gitVersion. */
  readonly gitVersion: string;
  /** What ComponentStatus calls the store. */
  readonly storeComponent: string;
  /** What health checks call it. */
  readonly storeCheck: string;
  /** Where it is told how types in the domains of those who make this API come to be approved; empty: nowhere. */
  readonly approvalPage: string;
  /**
   * Replaces the markers `@group`, `@label`, `@brand`, `@short` and `@agent` in a text of ours (a table, a name) by
   * this dialect's words; in braces (`@{agent}Version`) where a letter follows. Never apply it to what a client sent.
   */
  spell(text: string): string;
}

interface Words {
  readonly groupDomain: string;
  readonly labelDomain: string;
  readonly brand: string;
  readonly short: string;
  readonly nodeAgent: string;
  readonly openapiNamePrefix: string;
  readonly gitVersion: string;
  readonly storeComponent: string;
  readonly storeCheck: string;
  readonly approvalPage: string;
}

const MARKER = /@(?:\{(group|label|brand|short|agent)\}|(group|label|brand|short|agent)\b)/g;

/** Our texts are few, and some are spelled with every write. */
const SPELLED_MAX = 4000;

/** Answers for a text it was asked before what it answered then. */
function kept(spell: (text: string) => string): (text: string) => string {
  const spelled = new Map<string, string>();
  return (text) => {
    let known = spelled.get(text);
    if (known === undefined) {
      known = spell(text);
      keep(spelled, SPELLED_MAX, text, known);
    }
    return known;
  };
}

function dialect(name: DialectName, words: Words): Dialect {
  const { groupDomain, labelDomain, brand, short, nodeAgent } = words;
  const markers: Readonly<Record<string, string>> = {
    group: groupDomain,
    label: labelDomain,
    brand,
    short,
    agent: nodeAgent,
  };
  return {
    name,
    ...words,
    systemNamespace: `${short}-system`,
    publicNamespace: `${short}-public`,
    nodeLeaseNamespace: `${short}-node-lease`,
    protobufMediaType: `application/vnd.${brand}.protobuf`,
    metaGroup: `meta.${groupDomain}`,
    openapiExtensionPrefix: `x-${brand}-`,
    encryptionPrefix: `${groupDomain.slice(0, groupDomain.indexOf('.'))}:enc:`,
    spell: kept((text) => text.replace(MARKER, (_, braced?: string, bare?: string) => markers[(braced ?? bare)!]!)),
  };
}

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  orch: dialect('orch', {
    groupDomain: 'orch.io',
    labelDomain: 'orch.io',
    brand: 'orch',
    short: 'orch',
    nodeAgent: 'orchlet',
    openapiNamePrefix: 'io.orch.',
    gitVersion: 'v1.21.0+orch',
    storeComponent: 'store-0',
    storeCheck: 'store',
    approvalPage: '',
  }),
  kubernetes: dialect('kubernetes', {
    groupDomain: 'k8s.io',
    labelDomain: 'kubernetes.io',
    brand: 'kubernetes',
    short: 'kube',
    nodeAgent: 'kubelet',
    openapiNamePrefix: 'io.k8s.',
    gitVersion: 'v1.21.0+orch',
    storeComponent: 'etcd-0',
    storeCheck: 'etcd',
    approvalPage: 'https://github.com/kubernetes/enhancements/pull/1111',
  }),
};

export const DIALECT_NAMES: readonly DialectName[] = ['orch', 'kubernetes'];

/** The other dialect's meta group: Tables are answered under either name, so that any kubectl prints good ones. */
export const META_GROUPS: readonly string[] = DIALECT_NAMES.map((name) => DIALECTS[name].metaGroup);

/** By which the original's continue tokens say what they are. */
export const ORIGINAL_META_GROUP: string = DIALECTS.kubernetes.metaGroup;
