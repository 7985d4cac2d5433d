// The defaults that a value in the schema can't say, because they depend on other members: one function a type, run
// before the type's plain defaults, parents before children. Objects are in canonical form (decode.ts): an unset
// member is absent, or empty where it is always written.

import { parseCertificateRequest } from '../certificates/certificate-request.ts';
import { nodeClientProblem, nodeServingProblem, SIGNER } from '../certificates/signers.ts';
import { asTexts } from '../json/object-fields.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { carriesMetrics, DEFAULT_CPU_PERCENT } from './carried-metrics.ts';
import type { JsonObject } from './decode.ts';

/** Whether a feature gate is on. */
export type Features = (gate: string) => boolean;

/** Sets what is unset in an object of the type, in place. */
export type DefaultRule = (object: JsonObject, type: TypeSchema, features: Features) => void;

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '' && value !== 0;

function fill(object: JsonObject, name: string, value: unknown): void {
  if (!isSet(object[name])) object[name] = value;
}

/** Fills a pointer-like member, for which zero is a value. */
function fillAbsent(object: JsonObject, name: string, value: unknown): void {
  object[name] ??= value;
}

function part(object: JsonObject, name: string): JsonObject {
  object[name] ??= {};
  return object[name] as JsonObject;
}

const list = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value : []);
const isEmptyMap = (value: unknown): boolean =>
  value === undefined || value === null || Object.keys(value).length === 0;

/** Copies the members that the target does not have. */
function copyMissing(target: JsonObject, name: string, source: unknown): void {
  if (isEmptyMap(source)) return;
  const into = part(target, name);
  for (const [key, value] of Object.entries(source as JsonObject)) if (!Object.hasOwn(into, key)) into[key] = value;
}

const imagePullPolicy: DefaultRule = (container) => {
  if (isSet(container.imagePullPolicy)) return;
  const image = typeof container.image === 'string' ? container.image : '';
  container.imagePullPolicy = isLatest(image) ? 'Always' : 'IfNotPresent';
};

const HOST = '[a-zA-Z0-9]+(?:[.-]+[a-zA-Z0-9]+)*(?::\\d+)?';
const STEP = '[a-z0-9]+(?:(?:[.]|__?|-+)[a-z0-9]+)*';
/** What images are kept under, as container runtimes name it: `host:port/name`. An id of 64 digits is none. */
const REPOSITORY = new RegExp(`^(?![a-f0-9]{64}$)(?:${HOST}/)?${STEP}(?:/${STEP})*$`);

/** `host:port/name:tag@digest`: of that tag, or of none and no digest. What is no name of an image has no tag. */
function isLatest(image: string): boolean {
  const at = image.indexOf('@');
  const name = at < 0 ? image : image.slice(0, at);
  const tagged = name.lastIndexOf(':');
  if (tagged <= name.lastIndexOf('/')) return at < 0 && REPOSITORY.test(name);
  return name.endsWith(':latest') && REPOSITORY.test(name.slice(0, tagged));
}

const rollingUpdate =
  (maxUnavailable: string | number, maxSurge: string | number): DefaultRule =>
  (strategy) => {
    if ((strategy.type ?? 'RollingUpdate') !== 'RollingUpdate') return;
    const parameters = part(strategy, 'rollingUpdate');
    fillAbsent(parameters, 'maxUnavailable', maxUnavailable);
    fillAbsent(parameters, 'maxSurge', maxSurge);
  };

/** What says how pods are replaced says all of it, also where they are not replaced so: 0 is what is not said then. */
const daemonSetUpdate: DefaultRule = (strategy, type, features) => {
  rollingUpdate(1, 0)(strategy, type, features);
  if (!isSet(strategy.rollingUpdate)) return;
  const parameters = part(strategy, 'rollingUpdate');
  fillAbsent(parameters, 'maxUnavailable', 0);
  fillAbsent(parameters, 'maxSurge', 0);
  if (!features('DaemonSetUpdateSurge')) parameters.maxSurge = 0;
};

const statefulSetUpdate: DefaultRule = (strategy) => {
  if (!isSet(strategy.type)) fillAbsent(strategy, 'rollingUpdate', {});
  const isRolling = (strategy.type ?? 'RollingUpdate') === 'RollingUpdate';
  if (isRolling && strategy.rollingUpdate !== undefined) part(strategy, 'rollingUpdate').partition ??= 0;
};

/** Claims inside a stateful set say what they are, like objects of their own. */
const statefulSetSpec: DefaultRule = (spec) => {
  for (const template of list(spec.volumeClaimTemplates)) {
    template.kind = 'PersistentVolumeClaim';
    template.apiVersion = 'v1';
  }
};

const percentPolicy = { type: 'Percent', value: 100, periodSeconds: 15 };

const scalingBehavior: DefaultRule = (behavior) => {
  const scaleUp = part(behavior, 'scaleUp');
  fillAbsent(scaleUp, 'stabilizationWindowSeconds', 0);
  fillAbsent(scaleUp, 'selectPolicy', 'Max');
  fillAbsent(scaleUp, 'policies', [{ type: 'Pods', value: 4, periodSeconds: 15 }, { ...percentPolicy }]);
  const scaleDown = part(behavior, 'scaleDown');
  fillAbsent(scaleDown, 'selectPolicy', 'Max');
  fillAbsent(scaleDown, 'policies', [{ ...percentPolicy }]);
};

const customResourceNames: DefaultRule = (spec) => {
  const names = part(spec, 'names');
  if (typeof names.kind !== 'string' || names.kind === '') return;
  fill(names, 'singular', names.kind.toLowerCase());
  fill(names, 'listKind', `${names.kind}List`);
};

const legacyCustomResourceSpec: DefaultRule = (spec, type, features) => {
  customResourceNames(spec, type, features);
  const versions = list(spec.versions);
  if (versions.length === 0 && isSet(spec.version)) {
    spec.versions = [{ name: spec.version, served: true, storage: true }];
  } else if (versions.length > 0) fill(spec, 'version', versions[0]!.name);
  const conversion = spec.conversion as JsonObject | undefined;
  if (conversion?.strategy === 'Webhook') fillAbsent(conversion, 'conversionReviewVersions', ['v1beta1']);
};

const storedVersions: DefaultRule = (definition) => {
  const spec = part(definition, 'spec');
  const stored = list(spec.versions).find((version) => version.storage === true);
  if (stored !== undefined) fillAbsent(part(definition, 'status'), 'storedVersions', [stored.name]);
};

const limitRangeItem: DefaultRule = (item) => {
  if (item.type !== 'Container') return;
  copyMissing(item, 'default', item.max);
  copyMissing(item, 'defaultRequest', item.default);
  copyMissing(item, 'defaultRequest', item.min);
};

const allocatable: DefaultRule = (status) => copyMissing(status, 'allocatable', status.allocatable ?? status.capacity);

const podSpec: DefaultRule = (spec) => {
  fill(spec, 'serviceAccountName', spec.serviceAccount);
  if (isSet(spec.serviceAccountName)) spec.serviceAccount = spec.serviceAccountName;
  else {
    delete spec.serviceAccountName;
    delete spec.serviceAccount;
  }
  if (spec.hostNetwork !== true) return;
  for (const container of [...list(spec.containers), ...list(spec.initContainers)]) {
    for (const port of list(container.ports)) if (isSet(port.containerPort)) fill(port, 'hostPort', port.containerPort);
  }
};

const servicePort: DefaultRule = (port) => fill(port, 'targetPort', port.port ?? 0);

const AFFINITY_TIMEOUT_SECONDS = 10_800;

const serviceSpec: DefaultRule = (spec, _, features) => {
  if (spec.sessionAffinity === 'ClientIP') {
    const clientIP = part(part(spec, 'sessionAffinityConfig'), 'clientIP');
    fillAbsent(clientIP, 'timeoutSeconds', AFFINITY_TIMEOUT_SECONDS);
  } else if (!isSet(spec.sessionAffinity) || spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  const isBalanced = spec.type === 'LoadBalancer';
  if (isBalanced || spec.type === 'NodePort') fill(spec, 'externalTrafficPolicy', 'Cluster');
  if (isBalanced && features('ServiceLBNodePortControl')) fillAbsent(spec, 'allocateLoadBalancerNodePorts', true);
  const isRouted = !isSet(spec.type) || spec.type === 'NodePort' || isBalanced || spec.type === 'ClusterIP';
  if (isRouted && features('ServiceInternalTrafficPolicy')) fillAbsent(spec, 'internalTrafficPolicy', 'Cluster');
};

const volume: DefaultRule = (object) => {
  for (const name in object) if (name !== 'name' && object[name] !== undefined) return;
  object.emptyDir = {};
};

const ingressClassParameters: DefaultRule = (reference, _, features) => {
  if (features('IngressClassNamespacedParams')) fillAbsent(reference, 'scope', 'Cluster');
};

const networkPolicySpec: DefaultRule = (spec) => {
  if (list(spec.policyTypes).length > 0) return;
  spec.policyTypes = list(spec.egress).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
};

const rbacSubject: DefaultRule = (subject, type) => {
  if (subject.kind === 'User' || subject.kind === 'Group') fill(subject, 'apiGroup', type.group);
};

const legacyRbacSubject: DefaultRule = (subject, type) => {
  if (subject.kind === 'ServiceAccount') fill(subject, 'apiVersion', 'v1');
  if (subject.kind === 'User' || subject.kind === 'Group') fill(subject, 'apiVersion', `${type.group}/${type.version}`);
};

const NODE_USAGES = ['digital signature', 'key encipherment'];

/** Which signer a request from before signers had names is for. */
function signerOf(request: unknown, usages: readonly unknown[]): string {
  const pem = typeof request === 'string' ? Buffer.from(request, 'base64').toString('latin1') : '';
  const parsed = parseCertificateRequest(pem);
  if (parsed === undefined) return SIGNER.legacyUnknown;
  const texts = asTexts(usages);
  if (nodeClientProblem(parsed, texts) === '') return SIGNER.nodeClient;
  return nodeServingProblem(parsed, texts) === '' ? SIGNER.nodeServing : SIGNER.legacyUnknown;
}

const certificateRequestSpec: DefaultRule = (spec, type) => {
  const usages = Array.isArray(spec.usages) ? spec.usages : NODE_USAGES;
  if (spec.signerName === undefined) spec.signerName = type.dialect.spell(signerOf(spec.request, usages));
};

/** Rules that hold wherever the type stands. */
export const TYPE_RULES: Readonly<Record<string, DefaultRule>> = {
  'apiextensions/v1.CustomResourceDefinitionSpec': customResourceNames,
  'apiextensions/v1beta1.CustomResourceDefinitionSpec': legacyCustomResourceSpec,
  'apps/v1.DaemonSetUpdateStrategy': daemonSetUpdate,
  'apps/v1.DeploymentStrategy': rollingUpdate('25%', '25%'),
  'apps/v1.StatefulSetSpec': statefulSetSpec,
  'apps/v1.StatefulSetUpdateStrategy': statefulSetUpdate,
  'autoscaling/v2beta2.HorizontalPodAutoscalerBehavior': scalingBehavior,
  'certificates/v1beta1.CertificateSigningRequestSpec': certificateRequestSpec,
  'core/v1.Container': imagePullPolicy,
  'core/v1.EphemeralContainerCommon': imagePullPolicy,
  'core/v1.LimitRangeItem': limitRangeItem,
  'core/v1.NodeStatus': allocatable,
  'core/v1.PodSpec': podSpec,
  'core/v1.ServicePort': servicePort,
  'core/v1.ServiceSpec': serviceSpec,
  'core/v1.Volume': volume,
  'networking/v1.IngressClassParametersReference': ingressClassParameters,
  'networking/v1.NetworkPolicySpec': networkPolicySpec,
  'rbac/v1.Subject': rbacSubject,
  'rbac/v1alpha1.Subject': legacyRbacSubject,
  'rbac/v1beta1.Subject': rbacSubject,
};

const templateLabels = (object: JsonObject): JsonObject => {
  const template = part(object, 'spec').template as JsonObject | undefined;
  const metadata = template?.metadata as JsonObject | undefined;
  return (metadata?.labels as JsonObject | undefined) ?? {};
};

/** A copy: the template and the object may change apart. */
function labelsFromTemplate(object: JsonObject): void {
  const metadata = part(object, 'metadata');
  if (isEmptyMap(metadata.labels)) copyMissing(metadata, 'labels', templateLabels(object));
}

const BACKOFF_LIMIT = 6;

const job: DefaultRule = (object, _, features) => {
  const spec = part(object, 'spec');
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  fillAbsent(spec, 'parallelism', 1);
  fillAbsent(spec, 'backoffLimit', BACKOFF_LIMIT);
  if (features('IndexedJob')) fill(spec, 'completionMode', 'NonIndexed');
  if (features('SuspendJob')) fillAbsent(spec, 'suspend', false);
  const metadata = part(object, 'metadata');
  const labels = templateLabels(object);
  // The template's own, no copy: what a new job's template is given besides, the job has as well (strategy/batch/job.ts).
  if (isEmptyMap(metadata.labels) && !isEmptyMap(labels)) metadata.labels = labels;
};

/** The one metric of v1, which whoever makes an autoscaler without any has said by that. */
const cpuTarget: DefaultRule = (object, { dialect }) => {
  if (!carriesMetrics(object, dialect))
    fillAbsent(part(object, 'spec'), 'targetCPUUtilizationPercentage', DEFAULT_CPU_PERCENT);
};

const namespace: DefaultRule = (object, type, features) => {
  const metadata = part(object, 'metadata');
  if (!isSet(metadata.name) || !features('NamespaceDefaultLabelName')) return;
  part(metadata, 'labels')[type.dialect.spell('@label/metadata.name')] = metadata.name;
};

const pod: DefaultRule = (object) => {
  const spec = part(object, 'spec');
  fillAbsent(spec, 'enableServiceLinks', true);
  for (const container of [...list(spec.containers), ...list(spec.initContainers)]) {
    const resources = container.resources as JsonObject | undefined;
    if (resources?.limits !== undefined) copyMissing(resources, 'requests', resources.limits);
  }
};

const replicationController: DefaultRule = (object) => {
  const spec = part(object, 'spec');
  if (isEmptyMap(spec.selector)) copyMissing(spec, 'selector', templateLabels(object));
  labelsFromTemplate(object);
};

/** Of ROOT_RULES those by which metadata follows from the rest of the object, or the rest from metadata. */
export const METADATA_RULES: Readonly<Record<string, DefaultRule>> = {
  'autoscaling/v1.HorizontalPodAutoscaler': cpuTarget,
  'batch/v1.Job': job,
  'core/v1.Namespace': namespace,
  'core/v1.ReplicationController': replicationController,
};

/** Rules that hold only for the object itself, not where its type stands inside another. */
export const ROOT_RULES: Readonly<Record<string, DefaultRule>> = {
  ...METADATA_RULES,
  'apiextensions/v1.CustomResourceDefinition': storedVersions,
  'apiextensions/v1beta1.CustomResourceDefinition': (definition, type, features) => {
    legacyCustomResourceSpec(part(definition, 'spec'), type, features);
    storedVersions(definition, type, features);
  },
  'core/v1.Pod': pod,
};
