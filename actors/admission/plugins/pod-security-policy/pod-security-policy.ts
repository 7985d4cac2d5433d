// PodSecurityPolicy: a pod is taken if it complies with a policy that its creator, or its service account, may use. What it leaves
// open is set as that policy has it; a policy that leaves the pod as it is goes before one that does not. Later changes of the pod
// must comply as they are.

import type { User } from '../../../../api/authorization/attributes.ts';
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { FieldError } from '../../../../api/status/field-error.ts';
import type { StatusError } from '../../../../api/status/status.ts';
import { userOfSubject } from '../../../../api/tokens/service-account-claims.ts';
import { type Attributes, SUPPLEMENTAL_GROUPS } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { readCurrent } from '../../stored/store-reader.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';
import { withDefaults, withNoGroups, withoutNoGroups } from './defaults.ts';
import { type Policy, policyOf } from './policy.ts';
import { problemsOf } from './rules.ts';

/** Policies were in the second of them once, and roles still say so. */
const GROUPS = ['policy', 'extensions'];
const PLURAL = 'podsecuritypolicies';
/** Of the problems that a refusal lists. */
const PROBLEMS_MAX = 200;
/** What the garbage collector changes, and the server's own record of changes. */
const COLLECTED = ['ownerReferences', 'finalizers', 'selfLink', 'managedFields', 'resourceVersion'];

/** A pod as a policy has it. */
interface Allowed {
  readonly policy: string;
  readonly pod: JsonObject;
}

/** May be used under a policy, or what is wrong with it under those that its users may use. */
type Judgement = Allowed | { readonly problems: readonly FieldError[] };

class PodSecurityPolicyPlugin implements AdmissionPlugin {
  readonly #context: PluginContext;
  readonly #policies: KindView<Policy>;
  readonly #hasCsi: boolean;
  /** On pods: the policy that they have been taken under. */
  readonly #annotation: string;
  readonly #auditPrefix: string;

  constructor(context: PluginContext) {
    const { cluster, dialect, options } = context;
    this.#context = context;
    this.#hasCsi = options.gate('CSIInlineVolume');
    this.#annotation = dialect.spell('@label/psp');
    this.#auditPrefix = dialect.spell('podsecuritypolicy.policy.@group/');
    this.#policies = cluster.follow('policy/v1beta1/podsecuritypolicies', (object) => policyOf(object, dialect));
  }

  readonly mutate = (attributes: Attributes): Promise<void> | undefined =>
    attributes.asked.operation === 'create' && attributes.subresource === '' ? this.#admit(attributes) : undefined;

  readonly validate = (attributes: Attributes): Promise<void> | undefined =>
    attributes.subresource === '' && attributes.asked.operation === 'update' && isOnlyCollected(attributes)
      ? undefined
      : this.#requireCompliance(attributes);

  async #admit(attributes: Attributes): Promise<void> {
    const { asked, object, isSecondRound } = attributes;
    // What a webhook has changed says it no more.
    const wantsNoGroups = asked.emptied?.includes(SUPPLEMENTAL_GROUPS) === true && !isSecondRound;
    const judged = await this.#judge(attributes, wantsNoGroups ? withNoGroups(object) : object, undefined);
    if ('problems' in judged) throw refusal(attributes, 'admit', judged.problems);
    const { policy } = judged;
    const pod = wantsNoGroups ? withoutNoGroups(judged.pod) : judged.pod;
    const metadata = metadataOf(pod);
    const annotations = { ...metadata.annotations, [this.#annotation]: policy };
    attributes.object = { ...pod, metadata: { ...metadata, annotations } };
    attributes.annotate(`${this.#auditPrefix}admit-policy`, policy);
  }

  async #requireCompliance(attributes: Attributes): Promise<void> {
    const pod = attributes.subresource === '' ? attributes.object : await this.#withEphemeral(attributes);
    if (pod === undefined) return;
    const hint = metadataOf(pod).annotations?.[this.#annotation] ?? '';
    const judged = await this.#judge(attributes, pod, hint);
    if ('problems' in judged) throw refusal(attributes, 'validate', judged.problems);
    attributes.annotate(`${this.#auditPrefix}validate-policy`, judged.policy);
  }

  /** The pod with the containers that are to be added to it; undefined where it is gone, which the write finds out. */
  async #withEphemeral({ asked, type, object }: Attributes): Promise<JsonObject | undefined> {
    const stored = await readCurrent(asked.reader, type, asked.namespace, asked.name);
    if (stored === null) return undefined;
    const spec = partAt(stored.object, 'spec');
    return { ...stored.object, spec: { ...spec, ephemeralContainers: object.ephemeralContainers } };
  }

  /** @param first the policy to begin with, where the pod must stay as it is; undefined where it may be changed. */
  async #judge(attributes: Attributes, pod: JsonObject, first: string | undefined): Promise<Judgement> {
    const policies = this.#inOrder(first);
    if (policies.length === 0)
      throw forbid(attributes, 'PodSecurityPolicy: no providers available to validate pod request');
    const users = this.#users(attributes, pod);
    const failed: (readonly [policy: string, problems: readonly FieldError[]])[] = [];
    let changed: Allowed | undefined;
    for (const policy of policies) {
      const next = withDefaults(pod, policy, this.#context.dialect);
      const problems = problemsOf(next, policy, { dialect: this.#context.dialect, hasCsi: this.#hasCsi });
      if (problems.length > 0) {
        failed.push([policy.name, problems]);
        continue;
      }
      const isSame = deepEqual(next, pod);
      if (!isSame && (first !== undefined || changed !== undefined)) continue;
      if (!(await this.#mayUse(attributes, users, policy.name))) continue;
      if (isSame) return { pod, policy: policy.name };
      changed = { pod: next, policy: policy.name };
    }
    return changed ?? { problems: await this.#problemsToTell(attributes, users, failed) };
  }

  /** Nobody is told of policies that are not for him. */
  async #problemsToTell(
    attributes: Attributes,
    users: readonly User[],
    failed: readonly (readonly [policy: string, problems: readonly FieldError[]])[],
  ): Promise<readonly FieldError[]> {
    const told: FieldError[] = [];
    for (const [policy, problems] of failed) if (await this.#mayUse(attributes, users, policy)) told.push(...problems);
    return told;
  }

  #inOrder(first: string | undefined): readonly Policy[] {
    const policies = [...this.#policies.within('').values()];
    return policies.sort((a, b) => {
      if (a.name === first || b.name === first) return a.name === first ? -1 : 1;
      return a.name < b.name ? -1 : 1;
    });
  }

  /** The account goes first: it is whom pods are mostly made for. */
  #users({ asked, user }: Attributes, pod: JsonObject): readonly User[] {
    const name = textAt(partAt(pod, 'spec'), 'serviceAccountName');
    if (name === '') return [user];
    const subject = { namespace: asked.namespace, serviceAccount: { name, uid: '' }, bound: undefined };
    return [userOfSubject(subject, this.#context.dialect), user];
  }

  async #mayUse({ asked }: Attributes, users: readonly User[], name: string): Promise<boolean> {
    const { namespace } = asked;
    const use = { verb: 'use', isResource: true, version: '*', resource: PLURAL, subresource: '', path: '' };
    for (const user of users)
      for (const group of GROUPS) {
        const { allowed } = await this.#context.authorize({ user, asked }, { ...use, group, namespace, name });
        if (allowed) return true;
      }
    return false;
  }
}

/** Whoever may write a pod may let it go: nothing that a policy is about changes with it. */
function isOnlyCollected({ object, old = {} }: Attributes): boolean {
  return deepEqual(withoutCollected(object), withoutCollected(old));
}

function withoutCollected(pod: JsonObject): JsonObject {
  const metadata = Object.fromEntries(
    Object.entries(metadataOf(pod)).filter(([member]) => !COLLECTED.includes(member)),
  );
  return { ...pod, metadata };
}

function refusal(attributes: Attributes, what: 'admit' | 'validate', problems: readonly FieldError[]): StatusError {
  const texts = problems.slice(0, PROBLEMS_MAX).map(({ path, message }) => `${path}: ${message}`);
  if (problems.length > PROBLEMS_MAX) texts.push(`and ${problems.length - PROBLEMS_MAX} more`);
  return forbid(attributes, `PodSecurityPolicy: unable to ${what} pod: [${texts.join(' ')}]`);
}

export const podSecurityPolicy: AdmissionPluginKind = {
  name: 'PodSecurityPolicy',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods', 'core/pods/ephemeralcontainers'] }],
  create: (context) => new PodSecurityPolicyPlugin(context),
};
