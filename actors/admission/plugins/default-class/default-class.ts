// DefaultStorageClass and DefaultIngressClass: what names no class gets the one that is marked as the default, if there is one.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { AdmissionPluginName } from '../../../../config/admission-plugins.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

/** What has a default class, and how that is told. Names carry the markers of the dialect. */
interface Classed {
  readonly name: AdmissionPluginName;
  readonly resource: string;
  /** The classes, as `cluster.follow` has it, and as messages do. */
  readonly classes: string;
  readonly spoken: string;
  /** What the refusal of several says beside their number. */
  readonly severalProblem: string;
  /** The member of the spec that names a class; set, even to nothing, it is a choice. */
  readonly member: string;
  /** Says the same of old. */
  readonly annotation: string;
  /** On the class: any of them `"true"` makes it the default. */
  readonly marks: readonly string[];
}

const CLASSED: Readonly<Record<'storage' | 'ingress', Classed>> = {
  storage: {
    name: 'DefaultStorageClass',
    resource: 'core/persistentvolumeclaims',
    classes: 'storage.@group/v1/storageclasses',
    spoken: 'StorageClasses',
    severalProblem: '',
    member: 'storageClassName',
    annotation: 'volume.beta.@label/storage-class',
    marks: ['storageclass.@label/is-default-class', 'storageclass.beta.@label/is-default-class'],
  },
  ingress: {
    name: 'DefaultIngressClass',
    resource: 'networking/ingresses',
    classes: 'networking.@group/v1/ingressclasses',
    spoken: 'IngressClasses',
    severalProblem: ', only 1 allowed',
    member: 'ingressClassName',
    annotation: '@label/ingress.class',
    marks: ['ingressclass.@label/is-default-class'],
  },
};

class DefaultClass implements AdmissionPlugin {
  readonly #of: Classed;
  readonly #annotation: string;
  /** The default ones only. */
  readonly #defaults: KindView<true>;

  constructor({ cluster, dialect }: PluginContext, of: Classed) {
    this.#of = of;
    this.#annotation = dialect.spell(of.annotation);
    const marks = of.marks.map(dialect.spell);
    this.#defaults = cluster.follow(of.classes, (object) => (isMarked(object, marks) ? true : undefined));
  }

  readonly mutate = (attributes: Attributes): void => {
    const { member, spoken, severalProblem } = this.#of;
    const spec = partAt(attributes.object, 'spec');
    if (typeof spec[member] === 'string') return;
    const { annotations } = metadataOf(attributes.object);
    if (annotations !== undefined && Object.hasOwn(annotations, this.#annotation)) return;
    const [first, ...others] = this.#defaults.within('').keys();
    if (first === undefined) return;
    if (others.length > 0) {
      const found = `${others.length + 1} default ${spoken} were found${severalProblem}`;
      throw forbid(attributes, `Internal error occurred: ${found}`);
    }
    attributes.object = { ...attributes.object, spec: { ...spec, [member]: first } };
  };
}

function isMarked(object: JsonObject, marks: readonly string[]): boolean {
  const { annotations = {} } = metadataOf(object);
  return marks.some((mark) => annotations[mark] === 'true');
}

function kindOf(of: Classed): AdmissionPluginKind {
  return {
    name: of.name,
    wants: [{ operations: ['create'], resources: [of.resource] }],
    create: (context) => new DefaultClass(context, of),
  };
}

export const defaultStorageClass = kindOf(CLASSED.storage);
export const defaultIngressClass = kindOf(CLASSED.ingress);
