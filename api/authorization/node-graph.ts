// Which objects a node's pods need: a node agent may read these and no others (the authorization mode Node). Pure; told by
// whoever follows the store. What an answer takes grows with the volumes that name one secret, and not
// with the pods that share an object.
import { isJsonObject, type JsonObject, memberOf } from '../json/json-value.ts';
import { metadataOf } from '../metadata/object-meta.ts';

/** The kinds of objects that pods, claims and nodes lead to. */
export type ReachableKind =
  | 'secrets'
  | 'configmaps'
  | 'serviceaccounts'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'volumeattachments';

/** `kind/namespace/name`; no namespace where the kind has none. */
type Vertex = string;

/** One object that leads from others to nodes: a pod, a volume, an attachment, a node's configuration. */
interface Source {
  readonly reached: readonly Vertex[];
  /** The node it is on; or, for a volume, the claim whose pods it serves. */
  readonly node: string;
  readonly claim: Vertex;
}

export class NodeGraph {
  readonly #sources = new Map<string, Source>();
  /** How many sources lead from a vertex to a node. */
  readonly #nodes = new Map<Vertex, Map<string, number>>();
  /** The claims whose volumes lead to a vertex, and how many do. */
  readonly #claims = new Map<Vertex, Map<Vertex, number>>();
  readonly #mirrorAnnotation: string;

  /** `mirrorAnnotation`: marks pods that a node made for itself; they give it no rights. */
  constructor(mirrorAnnotation: string) {
    this.#mirrorAnnotation = mirrorAnnotation;
  }

  clear(): void {
    for (const map of [this.#sources, this.#nodes, this.#claims]) map.clear();
  }

  /** What a pod leads to is given with its binding, and changes later only with its ephemeral containers. */
  hasPod(namespace: string, name: string): boolean {
    return this.#sources.has(podSource(namespace, name));
  }

  setPod(namespace: string, name: string, pod: JsonObject): void {
    const node = text(memberOf(pod.spec, 'nodeName'));
    const isMirror = metadataOf(pod).annotations?.[this.#mirrorAnnotation] !== undefined;
    const reached = isMirror || node === '' ? [] : podReferences(namespace, name, pod);
    this.#set(podSource(namespace, name), { reached, node, claim: '' });
  }

  deletePod(namespace: string, name: string): void {
    this.#remove(podSource(namespace, name));
  }

  setVolume(name: string, volume: JsonObject): void {
    const claimRef = memberOf(volume.spec, 'claimRef');
    const claim = isJsonObject(claimRef)
      ? vertex('persistentvolumeclaims', text(claimRef.namespace), text(claimRef.name))
      : '';
    const reached = claim === '' ? [] : [vertex('persistentvolumes', '', name), ...volumeSecrets(volume)];
    this.#set(`persistentvolumes//${name}`, { reached, node: '', claim });
  }

  deleteVolume(name: string): void {
    this.#remove(`persistentvolumes//${name}`);
  }

  setAttachment(name: string, attachment: JsonObject): void {
    const node = text(memberOf(attachment.spec, 'nodeName'));
    this.#set(`volumeattachments//${name}`, { reached: [vertex('volumeattachments', '', name)], node, claim: '' });
  }

  deleteAttachment(name: string): void {
    this.#remove(`volumeattachments//${name}`);
  }

  /** A node's configuration may lie in a config map. */
  setNode(name: string, node: JsonObject): void {
    const source = memberOf(memberOf(node.spec, 'configSource'), 'configMap');
    const reached = isJsonObject(source) ? [vertex('configmaps', text(source.namespace), text(source.name))] : [];
    this.#set(`nodes//${name}`, { reached, node: name, claim: '' });
  }

  deleteNode(name: string): void {
    this.#remove(`nodes//${name}`);
  }

  /** Whether something on the node leads to the object. */
  leadsTo(node: string, kind: ReachableKind, namespace: string, name: string): boolean {
    const wanted = vertex(kind, namespace, name);
    if (this.#nodes.get(wanted)?.has(node)) return true;
    for (const claim of this.#claims.get(wanted)?.keys() ?? []) if (this.#nodes.get(claim)?.has(node)) return true;
    return false;
  }

  #set(key: string, source: Source): void {
    const known = this.#sources.get(key);
    if (known !== undefined && sameSource(known, source)) return;
    this.#remove(key);
    if (source.reached.length === 0) return;
    this.#sources.set(key, source);
    const { reached, node, claim } = source;
    for (const to of reached) this.#count(to, node, claim, 1);
  }

  #remove(key: string): void {
    const source = this.#sources.get(key);
    if (source === undefined) return;
    this.#sources.delete(key);
    const { reached, node, claim } = source;
    for (const to of reached) this.#count(to, node, claim, -1);
  }

  #count(vertex: Vertex, node: string, claim: Vertex, change: 1 | -1): void {
    if (claim === '') count(this.#nodes, vertex, node, change);
    else count(this.#claims, vertex, claim, change);
  }
}

function sameSource(left: Source, right: Source): boolean {
  return (
    left.node === right.node &&
    left.claim === right.claim &&
    left.reached.length === right.reached.length &&
    left.reached.every((to, index) => to === right.reached[index])
  );
}

function count(map: Map<Vertex, Map<string, number>>, from: Vertex, to: string, change: 1 | -1): void {
  const counts = map.get(from) ?? new Map<string, number>();
  const now = (counts.get(to) ?? 0) + change;
  if (now > 0) counts.set(to, now);
  else counts.delete(to);
  if (counts.size === 0) map.delete(from);
  else map.set(from, counts);
}

function podSource(namespace: string, name: string): string {
  return `pods/${namespace}/${name}`;
}

function vertex(kind: ReachableKind, namespace: string, name: string): Vertex {
  return `${kind}/${namespace}/${name}`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Everything in its namespace that a pod's specification names, each once. */
function podReferences(namespace: string, podName: string, pod: JsonObject): readonly Vertex[] {
  const spec = isJsonObject(pod.spec) ? pod.spec : {};
  const found = new Set<Vertex>();
  const add = (kind: ReachableKind, name: unknown): void => {
    if (typeof name === 'string' && name !== '') found.add(vertex(kind, namespace, name));
  };
  add('serviceaccounts', spec.serviceAccountName);
  for (const { name } of objects(spec.imagePullSecrets)) add('secrets', name);
  for (const list of [spec.initContainers, spec.containers, spec.ephemeralContainers])
    for (const container of objects(list)) addContainer(container, add);
  for (const volume of objects(spec.volumes)) addVolume(volume, podName, add);
  return [...found].sort();
}

/** Whether a pod's specification names an object of the kind anywhere. */
export function podNames(pod: JsonObject, kind: ReachableKind): boolean {
  return podReferences('', '', pod).some((reference) => reference.startsWith(`${kind}/`));
}

type Add = (kind: ReachableKind, name: unknown) => void;

function addContainer(container: JsonObject, add: Add): void {
  for (const { valueFrom } of objects(container.env)) {
    add('secrets', memberOf(memberOf(valueFrom, 'secretKeyRef'), 'name'));
    add('configmaps', memberOf(memberOf(valueFrom, 'configMapKeyRef'), 'name'));
  }
  for (const { secretRef, configMapRef } of objects(container.envFrom)) {
    add('secrets', memberOf(secretRef, 'name'));
    add('configmaps', memberOf(configMapRef, 'name'));
  }
}

/** Members of a volume that name a secret, and where. */
const VOLUME_SECRETS: Readonly<Record<string, readonly string[]>> = {
  azureFile: ['secretName'],
  cephfs: ['secretRef', 'name'],
  cinder: ['secretRef', 'name'],
  csi: ['nodePublishSecretRef', 'name'],
  flexVolume: ['secretRef', 'name'],
  iscsi: ['secretRef', 'name'],
  rbd: ['secretRef', 'name'],
  scaleIO: ['secretRef', 'name'],
  secret: ['secretName'],
  storageos: ['secretRef', 'name'],
};

function addVolume(volume: JsonObject, podName: string, add: Add): void {
  for (const [member, path] of Object.entries(VOLUME_SECRETS))
    add(
      'secrets',
      path.reduce<unknown>((value, key) => memberOf(value, key), volume[member]),
    );
  add('configmaps', memberOf(volume.configMap, 'name'));
  add('persistentvolumeclaims', memberOf(volume.persistentVolumeClaim, 'claimName'));
  // The claim made for such a volume is named after its pod.
  if (isJsonObject(volume.ephemeral)) add('persistentvolumeclaims', `${podName}-${text(volume.name)}`);
  for (const { secret, configMap } of objects(memberOf(volume.projected, 'sources'))) {
    add('secrets', memberOf(secret, 'name'));
    add('configmaps', memberOf(configMap, 'name'));
  }
}

/**
 * Members of a volume's source that name a secret by name and namespace. Those that a driver's controller needs are not among them: they
 * are none of an agent's business.
 */
const PERSISTENT_SECRETS: readonly (readonly [source: string, member: string])[] = [
  ['cephfs', 'secretRef'],
  ['cinder', 'secretRef'],
  ['csi', 'nodePublishSecretRef'],
  ['csi', 'nodeStageSecretRef'],
  ['flexVolume', 'secretRef'],
  ['iscsi', 'secretRef'],
  ['rbd', 'secretRef'],
  ['scaleIO', 'secretRef'],
  ['storageos', 'secretRef'],
];

/** The secrets of a persistent volume: where no namespace is said, the claim's. */
function volumeSecrets(volume: JsonObject): Vertex[] {
  const spec = isJsonObject(volume.spec) ? volume.spec : {};
  const claimNamespace = text(memberOf(spec.claimRef, 'namespace'));
  const found = new Set<Vertex>();
  const add = (namespace: unknown, name: unknown): void => {
    if (text(name) !== '') found.add(vertex('secrets', text(namespace) || claimNamespace, text(name)));
  };
  const { azureFile } = spec;
  add(memberOf(azureFile, 'secretNamespace'), memberOf(azureFile, 'secretName'));
  for (const [source, member] of PERSISTENT_SECRETS) {
    const reference = memberOf(spec[source], member);
    add(memberOf(reference, 'namespace'), memberOf(reference, 'name'));
  }
  return [...found].sort();
}
