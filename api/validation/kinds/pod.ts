// Rules of pods and pod templates around their specs: annotations that stand for fields, what an update may change, what
// a status may say.

import { parseIp } from '../../../values/ip.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { appArmorPrefix } from '../../pods/app-armor.ts';
import {
  CONTAINER_LISTS,
  containerSeccompPrefix,
  podSeccompKey,
  type SeccompProfile,
  seccompDifference,
} from '../../pods/seccomp.ts';
import { ipProblems } from '../field-formats.ts';
import { eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import { type ChangeRule, type ChangeTable, CREATE_RULES, type Rule, type RuleTable } from '../rule.ts';
import { trimmedImage } from './container.ts';
import { containerNamesOf } from './container-names.ts';
import { embeddedAnnotations, embeddedLabels, type Labels } from './labels.ts';
import { type Toleration, toleration } from './placement.ts';
import type { PodSpec } from './pod-spec.ts';
import { appArmorProblems, seccompProblems } from './profiles.ts';
import { checkTokenProjections } from './volumes.ts';

const CLAIM_IS_MADE = 'must not reference a PVC that gets created for an ephemeral volume';
const HUGE_PAGES = 'hugepages-';

interface Pod extends JsonObject {
  readonly spec?: PodSpec;
}

const noEphemeral: Rule<Pod> = ({ spec }, at) => {
  if (!at.isUpdate && (spec?.ephemeralContainers?.length ?? 0) > 0) {
    at.forbidden('spec.ephemeralContainers', 'cannot be set on create');
  }
};

/** Not of templates: what they leave out, the pods that are made of them are given. */
const tokens: Rule<Pod> = ({ spec }, at) => {
  if (spec?.volumes === undefined) return;
  at.enter('spec');
  checkTokenProjections(spec.volumes, spec.serviceAccountName ?? '', at);
  at.leave();
};

/** Of a pod whose name is known: claims of its ephemeral volumes are its own to make. */
const noMadeClaims: Rule<Pod> = (pod, at) => {
  const { name = '' } = metadataOf(pod);
  const volumes = pod.spec?.volumes ?? [];
  if (at.isUpdate || name === '' || !volumes.some(({ ephemeral }) => ephemeral)) return;
  const made = new Set(volumes.filter(({ ephemeral }) => ephemeral).map((volume) => `${name}-${volume.name}`));
  for (const [index, { persistentVolumeClaim: { claimName } = {} }] of volumes.entries())
    if (claimName !== undefined && made.has(claimName))
      at.invalid(`spec.volumes[${index}].persistentVolumeClaim.claimName`, claimName, CLAIM_IS_MADE);
};

const plainImages: Rule<Pod> = ({ spec }, at) => {
  for (const list of ['containers', 'initContainers'] as const) {
    const containers = spec?.[list];
    for (let i = 0; i < (containers?.length ?? 0); i++) {
      at.enter(`spec.${list}[${i}]`);
      trimmedImage(containers![i]!, at);
      at.leave();
    }
  }
};

/** Without the gate HugePageStorageMediumSize all containers use huge pages of one size, unless the stored pod has several. */
const oneHugePageSize: Rule<Pod> = ({ spec }, at) => {
  if (at.settings.gate('HugePageStorageMediumSize')) return;
  const sizes = hugePageSizes(spec);
  if (sizes.length < 2 || hugePageSizes((at.stored as Pod | undefined)?.spec).length > 1) return;
  at.invalid('spec', sizes.sort().join(', '), 'must use a single hugepage size in a pod spec');
};

function hugePageSizes(spec: PodSpec | undefined): string[] {
  const sizes = new Set<string>();
  for (const { resources } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const name of Object.keys({ ...resources?.limits, ...resources?.requests }))
      if (name.startsWith(HUGE_PAGES)) sizes.add(name);
  }
  return [...sizes];
}

const podAnnotations: Rule<Pod> = (pod, at) => {
  const { annotations } = metadataOf(pod);
  if (annotations === undefined) return;
  at.enter('metadata.annotations');
  checkPodAnnotations(annotations, pod.spec, at);
  at.leave();
};

/** Annotations that older clients set instead of fields. Reported below the annotations. */
function checkPodAnnotations(annotations: Labels, spec: PodSpec | undefined, at: Report): void {
  const { labelDomain } = at.dialect;
  // Nearly every annotation is of somebody else.
  let isOurs = false;
  for (const key in annotations) isOurs ||= key.includes(labelDomain);
  if (!isOurs) return;
  const ours = Object.keys(annotations);
  const mirror = `${labelDomain}/config.mirror`;
  if (annotations[mirror] !== undefined && (spec?.nodeName ?? '') === '')
    at.invalid(`[${mirror}]`, annotations[mirror], 'must set spec.nodeName if mirror pod annotation is set');
  const pod = podSeccompKey(at.dialect);
  if (annotations[pod] !== undefined) checkSeccomp(pod, annotations[pod], at);
  const seccomp = containerSeccompPrefix(at.dialect);
  for (const key of ours) if (key.startsWith(seccomp)) checkSeccomp(key, annotations[key]!, at);
  const appArmor = appArmorPrefix(labelDomain);
  const profiled = ours.filter((key) => key.startsWith(appArmor));
  if (profiled.length === 0) return;
  const names = containerNamesOf(spec ?? {});
  for (const key of profiled) {
    const container = key.slice(appArmor.length);
    const profile = annotations[key]!;
    if (!names.has(container)) at.invalid(`[${key}]`, container, 'container not found');
    at.problems(`[${key}]`, profile, appArmorProblems(profile));
  }
}

function checkSeccomp(key: string, profile: string, at: Report): void {
  at.problems(key, profile, seccompProblems(profile));
}

/** Where annotations and fields both name a profile they must name the same. `meta` and `spec` lie where the run stands. */
function checkSeccompInStep(annotations: Labels | undefined, spec: PodSpec | undefined, at: Report): void {
  if (annotations === undefined || spec === undefined) return;
  const check = (secured: Secured, key: string, path: string): void => {
    const profile = secured.securityContext?.seccompProfile;
    const annotation = annotations[key];
    if (!profile || annotation === undefined) return;
    const member = seccompDifference(annotation, profile);
    if (member === undefined) return;
    const what = member === 'type' ? 'type' : 'profile';
    at.forbidden(
      `${path}.securityContext.seccompProfile.${member}`,
      `seccomp ${what} in annotation and field must match`,
    );
  };
  check(spec as Secured, podSeccompKey(at.dialect), 'spec');
  const prefix = containerSeccompPrefix(at.dialect);
  for (const list of CONTAINER_LISTS) {
    const containers = (spec as Readonly<Record<string, unknown>>)[list];
    if (!Array.isArray(containers)) continue;
    for (const [index, container] of (containers as readonly Secured[]).entries())
      check(container, prefix + (container.name ?? ''), `spec.${list}[${index}]`);
  }
}

interface Secured {
  readonly name?: string;
  readonly securityContext?: { readonly seccompProfile?: SeccompProfile | null } | null;
}

/** Of new pods only. */
const podSeccomp: Rule<Pod> = (pod, at) => {
  if (!at.isUpdate) checkSeccompInStep(metadataOf(pod).annotations, pod.spec, at);
};

interface PodTemplateSpec {
  readonly metadata?: { readonly annotations?: Labels };
  readonly spec?: PodSpec;
}

/** The metadata of a template, and the annotations in it that say something of its pods. */
export const templateMetadata: Rule<PodTemplateSpec> = ({ metadata, spec }, at) => {
  at.enter('metadata');
  embeddedLabels(metadata, at);
  embeddedAnnotations(metadata, at);
  if (metadata?.annotations !== undefined) {
    at.enter('annotations');
    checkPodAnnotations(metadata.annotations, spec, at);
    at.leave();
  }
  at.leave();
};

const afterTemplate: Rule<PodTemplateSpec> = ({ metadata, spec }, at) => {
  checkSeccompInStep(metadata?.annotations, spec, at);
  if ((spec?.ephemeralContainers?.length ?? 0) > 0) {
    at.forbidden('spec.ephemeralContainers', 'ephemeral containers not allowed in pod template');
  }
};

/** What an update of a pod may change in its spec. */
const CHANGEABLE =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, ' +
  '`spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';

const specChange: ChangeRule<Pod> = (pod, stored, at) => {
  const next = pod.spec ?? {};
  const before = stored.spec ?? {};
  if (next === before || deepEqual(next, before)) return;
  at.enter('spec');
  if (checkContainers(next, before, at) && checkDeadline(next, before, at)) {
    checkTolerations(next, before, at);
    if (!isFixedPartKept(next, before)) at.forbidden('', CHANGEABLE);
  }
  at.leave();
};

/** None comes and none goes, and the new images are some. False where that ends the check. */
function checkContainers(next: PodSpec, before: PodSpec, at: Report): boolean {
  for (const list of ['containers', 'initContainers'] as const) {
    if ((next[list]?.length ?? 0) !== (before[list]?.length ?? 0)) {
      at.forbidden(list, 'pod updates may not add or remove containers');
      return false;
    }
    for (const [index, container] of (next[list] ?? []).entries()) {
      at.enter(`${list}[${index}]`);
      if ((container.image ?? '') === '') at.required('image');
      trimmedImage(container, at);
      at.leave();
    }
  }
  return true;
}

const DEADLINE_MAX = 2_147_483_647;

/** False where it ends the check. */
function checkDeadline(next: PodSpec, before: PodSpec, at: Report): boolean {
  const path = 'activeDeadlineSeconds';
  const seconds = next.activeDeadlineSeconds ?? undefined;
  const secondsBefore = before.activeDeadlineSeconds ?? undefined;
  if (seconds === undefined) {
    if (secondsBefore !== undefined) at.invalid(path, null, 'must not update from a positive integer to nil value');
    return true;
  }
  if (seconds < 0 || seconds > DEADLINE_MAX) {
    at.invalid(path, seconds, `must be between 0 and ${DEADLINE_MAX}, inclusive`);
    return false;
  }
  if (secondsBefore === undefined || seconds <= secondsBefore) return true;
  at.invalid(path, seconds, `must be less than or equal to previous value`);
  return false;
}

function withoutSeconds(toleration: JsonObject): JsonObject {
  const { tolerationSeconds: _, ...rest } = toleration;
  return rest;
}

function checkTolerations(next: PodSpec, before: PodSpec, at: Report): void {
  const { tolerations: now = [] } = next as { tolerations?: readonly (JsonObject & Toleration)[] };
  const { tolerations: then = [] } = before as { tolerations?: readonly JsonObject[] };
  if (deepEqual(now, then)) return;
  // Ten thousands of them would be compared with each other: no pod has so many.
  const kept = new Set(now.map((one) => JSON.stringify(withoutSeconds(one))));
  if (!then.every((one) => kept.has(JSON.stringify(withoutSeconds(one))))) {
    at.forbidden('tolerations', 'existing toleration can not be modified except its tolerationSeconds');
    return;
  }
  for (const [index, one] of now.entries()) {
    at.enter(`tolerations[${index}]`);
    toleration(one, at);
    at.leave();
  }
}

/** What may change, or is compared by itself. */
const CHANGEABLE_MEMBERS: ReadonlySet<string> = new Set([
  'activeDeadlineSeconds',
  'tolerations',
  'terminationGracePeriodSeconds',
  'containers',
  'initContainers',
]);
const IMAGE: ReadonlySet<string> = new Set(['image']);

/** Whether everything is as it was that may not change. Of containers there are as many as there were. */
function isFixedPartKept(spec: PodSpec, before: PodSpec): boolean {
  return (
    areEqualBesides(CHANGEABLE_MEMBERS, spec as JsonObject, before as JsonObject) &&
    isGraceKept(spec as JsonObject, before as JsonObject) &&
    areKeptButImages(spec.containers, before.containers) &&
    areKeptButImages(spec.initContainers, before.initContainers)
  );
}

/** A negative period means the shortest there is, and may be written as that. */
function isGraceKept(
  { terminationGracePeriodSeconds: grace }: JsonObject,
  { terminationGracePeriodSeconds: before }: JsonObject,
): boolean {
  return grace === before || (grace === 1 && typeof before === 'number' && before < 0);
}

function areKeptButImages(containers: PodSpec['containers'], before: PodSpec['containers']): boolean {
  const isKept = (one: object, index: number): boolean =>
    areEqualBesides(IMAGE, one as JsonObject, (before ?? [])[index] as unknown as JsonObject);
  return (containers ?? []).every(isKept);
}

function areEqualBesides(names: ReadonlySet<string>, one: JsonObject, other: JsonObject): boolean {
  for (const name in one) if (!names.has(name) && !deepEqual(one[name], other[name])) return false;
  for (const name in other) if (!names.has(name) && !Object.hasOwn(one, name)) return false;
  return true;
}

/** Annotations that mean something to node agents stay as they were. */
const fixedAnnotations: ChangeRule<Pod> = (pod, stored, at) => {
  const next = metadataOf(pod).annotations ?? {};
  const before = metadataOf(stored).annotations ?? {};
  if (next === before) return;
  at.enter('metadata.annotations');
  for (const key in before) if (next[key] !== before[key]) refuseChange(key, 'remove or update', at);
  for (const key in next) if (before[key] === undefined) refuseChange(key, 'add', at);
  checkPodAnnotations(next, pod.spec, at);
  at.leave();
};

function refuseChange(key: string, what: string, at: Report): void {
  const { labelDomain } = at.dialect;
  if (key.startsWith(appArmorPrefix(labelDomain))) {
    at.forbidden(`[${key}]`, `may not ${what} AppArmor annotations`);
  } else if (key === `${labelDomain}/config.mirror`) {
    at.forbidden(`[${key}]`, `may not ${what} mirror pod annotation`);
  }
}

interface ContainerStatus {
  readonly name?: string;
  readonly state?: { readonly terminated?: { readonly exitCode?: number } };
}

/** A container that ended stays so, unless the pod's policy starts it again. */
const containerStatuses: ChangeRule<Pod> = (pod, stored, at) => {
  const restartPolicy = stored.spec?.restartPolicy;
  if (restartPolicy === 'Always') return;
  for (const list of ['containerStatuses', 'initContainerStatuses'] as const) {
    const before = statusesOf(stored, list);
    const next = new Map(statusesOf(pod, list).map((status) => [status.name, status]));
    for (const [index, { name, state }] of before.entries()) {
      const ended = state?.terminated;
      if (ended === undefined || ended === null) continue;
      if (restartPolicy === 'OnFailure' && (ended.exitCode ?? 0) !== 0) continue;
      const now = next.get(name);
      if (now === undefined || now.state?.terminated) continue;
      at.forbidden(`status.${list}[${index}].state`, 'may not be transitioned to non-terminated state');
    }
  }
};

function statusesOf(pod: Pod, list: string): readonly ContainerStatus[] {
  const { status } = pod;
  const statuses = isJsonObject(status) ? status[list] : undefined;
  return Array.isArray(statuses) ? (statuses as readonly ContainerStatus[]) : [];
}

const podIps: Rule<readonly { readonly ip?: string }[]> = (list, at) => {
  const families = new Set(list.map(({ ip = '' }) => parseIp(ip)?.family));
  for (const [index, { ip = '' }] of list.entries()) at.problems(`[${index}]`, ip, ipProblems(ip));
  if (list.length < 2) return;
  if (list.length > 2 || !families.has(4) || !families.has(6)) {
    at.invalid('', list, 'may specify no more than one IP for each IP family');
  }
  const repeat = (_ip: string | number, index: number): void => at.duplicate(`[${index}]`, list[index]);
  eachRepeated(list, ({ ip = '' }) => ip, repeat, undefined);
};

export const podTypes: RuleTable = {
  'core/v1.Pod': {
    rules: [podAnnotations, 'spec', noMadeClaims, tokens, plainImages, noEphemeral, oneHugePageSize, podSeccomp],
  },
  'core/v1.PodTemplateSpec': { rules: [templateMetadata, 'spec', afterTemplate] },
  'core/v1.PodStatus': {
    fields: { podIPs: { rules: [podIps] }, nominatedNodeName: { format: 'dns1123Subdomain' } },
    rules: ['conditions', 'nominatedNodeName', 'podIPs'],
  },
  'core/v1.PodCondition': { fields: { type: { format: 'qualifiedName', emptyToo: true } } },
  'core/v1.Binding': { rules: [binding] },
};

function binding(
  { target }: { readonly target?: { readonly kind?: string; readonly name?: string } },
  at: Report,
): void {
  const { kind = '', name = '' } = target ?? {};
  if (kind !== '' && kind !== 'Node') at.notSupported('target.kind', kind, ['Node', '<empty>']);
  if (name === '') at.required('target.name');
}

export const podUpdates: ChangeTable = {
  'core/v1.Pod': { rules: [CREATE_RULES, fixedAnnotations, specChange] },
};

/** Whoever writes a status may write annotations beside it: those that are fixed stay fixed. */
export const podStatusUpdates: ChangeTable = { 'core/v1.Pod': { rules: [fixedAnnotations, containerStatuses] } };
