// The mode Node: what agents of nodes may do, by the pods that are on their nodes. The rules are
// api/authorization/node-authorizer.ts; this file keeps their graph in step with the store.
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import { NodeAuthorizer as NodeRules, nodeOf } from '../../../api/authorization/node-authorizer.ts';
import { NodeGraph } from '../../../api/authorization/node-graph.ts';
import { rulesOf } from '../../../api/authorization/policy-rule.ts';
import { rbacObjects } from '../../../api/bootstrap/rbac.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { mayBeBound } from '../../pod-marks.ts';
import type { ClusterReader } from '../cluster-feed.ts';
import { type Authorizer, NO_OPINION, NO_RULES, type Rules, type Verdict } from './authorizer.ts';
import { type GraphOperation, GraphTimes, type MeasuredWorld } from './graph-times.ts';

type Change = (graph: NodeGraph, event: FeedEvent, times: GraphTimes) => void;
type Act = (graph: NodeGraph, event: FeedEvent) => void;

function follow(
  [putName, put]: readonly [GraphOperation, Act],
  [removeName, remove]: readonly [GraphOperation, Act],
): Change {
  return (graph, event, times) =>
    event.type === 'delete'
      ? times.timed(removeName, () => remove(graph, event))
      : times.timed(putName, () => put(graph, event));
}

const EPHEMERAL = Buffer.from('"ephemeralContainers"');

const BOUND_PODS = follow(
  ['AddPod', (graph, event) => graph.setPod(event.namespace, event.name, event.object())],
  ['DeletePod', (graph, { namespace, name }) => graph.deletePod(namespace, name)],
);
// A pod leads nowhere before it is bound, and where it was bound to afterwards, which its bytes tell; nearly every write of a busy
// cluster's pods is one or the other. Nothing is done to the graph then that would be worth measuring.
const PODS: Change = (graph, event, times) => {
  if (event.type === 'delete') BOUND_PODS(graph, event, times);
  else if (!mayBeBound(event)) graph.deletePod(event.namespace, event.name);
  else if (!graph.hasPod(event.namespace, event.name) || event.mayHave(EPHEMERAL)) BOUND_PODS(graph, event, times);
};
const VOLUMES = follow(
  ['AddPV', (graph, event) => graph.setVolume(event.name, event.object())],
  ['DeletePV', (graph, { name }) => graph.deleteVolume(name)],
);
const ATTACHMENTS = follow(
  ['AddVolumeAttachment', (graph, event) => graph.setAttachment(event.name, event.object())],
  ['DeleteVolumeAttachment', (graph, { name }) => graph.deleteAttachment(name)],
);
const NODES = follow(
  ['SetNodeConfigMap', (graph, event) => graph.setNode(event.name, event.object())],
  ['SetNodeConfigMap', (graph, { name }) => graph.deleteNode(name)],
);

const UNLISTED: Rules = {
  ...NO_RULES,
  isIncomplete: true,
  errors: ['node authorizer does not support user rule resolution'],
};

export class NodeAuthorizer implements Authorizer, ClusterReader {
  readonly storageKeys: readonly string[];
  readonly #graph: NodeGraph;
  readonly #times: GraphTimes;
  readonly #rules: NodeRules;
  readonly #changes: ReadonlyMap<string, Change>;

  constructor(dialect: Dialect, world: MeasuredWorld) {
    this.#times = new GraphTimes(world);
    this.#graph = new NodeGraph(dialect.spell('@label/config.mirror'));
    const storageGroup = dialect.spell('storage.@group');
    const role = rbacObjects(dialect).find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'system:node',
    )!;
    this.#rules = new NodeRules({
      graph: this.#graph,
      rules: rulesOf(role),
      leaseNamespace: dialect.nodeLeaseNamespace,
      storageGroup,
      coordinationGroup: dialect.spell('coordination.@group'),
    });
    this.#changes = new Map([
      ['core/pods', PODS],
      ['core/persistentvolumes', VOLUMES],
      ['core/nodes', NODES],
      [`${storageGroup}/volumeattachments`, ATTACHMENTS],
    ]);
    this.storageKeys = [...this.#changes.keys()];
  }

  reset(): void {
    this.#graph.clear();
  }

  onEvent(event: FeedEvent): void {
    this.#changes.get(event.storageKey)?.(this.#graph, event, this.#times);
  }

  decide(user: User, access: AccessAttributes): Verdict {
    if (nodeOf(user) === undefined) return NO_OPINION;
    const { allowed, reason } = this.#rules.decide(user, access);
    return { decision: allowed ? 'allow' : 'noOpinion', reason };
  }

  rules(user: User): Rules {
    return nodeOf(user) === undefined ? NO_RULES : UNLISTED;
  }
}
