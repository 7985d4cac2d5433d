// The cluster roles for people and components, and who is bound to them. The controllers' roles are in
// controller-roles.ts. Data only.
import type { RuleRow } from './rbac-rules.ts';
import { EVERYTHING, READ, RECORD_EVENTS, WRITE } from './rbac-rules.ts';

export type AggregatedRole = 'admin' | 'edit' | 'view';

export interface ClusterRoleRow {
  readonly name: string;
  /** Its rules are those of all roles that are part of this one, gathered by a controller. */
  readonly sumOf?: AggregatedRole;
  readonly partOf?: AggregatedRole;
  readonly rules: readonly RuleRow[];
}

/** A role for someone who approves certificate requests to one signer. */
function approver(signer: string): ClusterRoleRow {
  return {
    name: `system:certificates.@group:${signer}-approver`,
    rules: [['approve', 'certificates.@group', 'signers', `@label/${signer}`]],
  };
}

export const CLUSTER_ROLES: readonly ClusterRoleRow[] = [
  { name: 'admin', sumOf: 'admin', rules: [] },
  {
    name: 'cluster-admin',
    rules: [
      ['*', '*', '*'],
      ['*', '*'],
    ],
  },
  { name: 'edit', partOf: 'admin', sumOf: 'edit', rules: [] },
  {
    name: 'system:aggregate-to-admin',
    partOf: 'admin',
    rules: [
      ['create', 'authorization.@group', 'localsubjectaccessreviews'],
      [EVERYTHING, 'rbac.authorization.@group', 'rolebindings roles'],
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    partOf: 'edit',
    rules: [
      [READ, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'],
      ['impersonate', 'core', 'serviceaccounts'],
      [WRITE, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'],
      [
        WRITE,
        'core',
        'configmaps endpoints persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
      ],
      [
        WRITE,
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      ],
      [WRITE, 'autoscaling', 'horizontalpodautoscalers'],
      [WRITE, 'batch', 'cronjobs jobs'],
      [
        WRITE,
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      ],
      [WRITE, 'policy', 'poddisruptionbudgets'],
      [WRITE, 'networking.@group', 'ingresses networkpolicies'],
    ],
  },
  {
    name: 'system:aggregate-to-view',
    partOf: 'view',
    rules: [
      [
        READ,
        'core',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      ],
      [
        READ,
        'core',
        'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
      ],
      [READ, 'core', 'namespaces'],
      [
        READ,
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ],
      [READ, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'],
      [READ, 'batch', 'cronjobs cronjobs/status jobs jobs/status'],
      [
        READ,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      ],
      [READ, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'],
      [READ, 'networking.@group', 'ingresses ingresses/status networkpolicies'],
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: [
      ['create', 'authentication.@group', 'tokenreviews'],
      ['create', 'authorization.@group', 'subjectaccessreviews'],
    ],
  },
  {
    name: 'system:basic-user',
    rules: [['create', 'authorization.@group', 'selfsubjectaccessreviews selfsubjectrulesreviews']],
  },
  {
    name: 'system:certificates.@group:certificatesigningrequests:nodeclient',
    rules: [['create', 'certificates.@group', 'certificatesigningrequests/nodeclient']],
  },
  {
    name: 'system:certificates.@group:certificatesigningrequests:selfnodeclient',
    rules: [['create', 'certificates.@group', 'certificatesigningrequests/selfnodeclient']],
  },
  approver('@short-apiserver-client'),
  approver('@short-apiserver-client-@agent'),
  approver('@agent-serving'),
  approver('legacy-unknown'),
  {
    name: 'system:discovery',
    rules: [['get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/']],
  },
  {
    name: 'system:heapster',
    rules: [
      [READ, 'core', 'events namespaces nodes pods'],
      [READ, 'extensions', 'deployments'],
    ],
  },
  { name: 'system:@short-aggregator', rules: [[READ, 'core', 'endpoints services']] },
  {
    name: 'system:@short-controller-manager',
    rules: [
      RECORD_EVENTS,
      ['create', 'coordination.@group', 'leases'],
      ['get update', 'coordination.@group', 'leases', '@short-controller-manager'],
      ['create', 'core', 'endpoints'],
      ['get update', 'core', 'endpoints', '@short-controller-manager'],
      ['create', 'core', 'secrets serviceaccounts'],
      ['delete', 'core', 'secrets'],
      ['get', 'core', 'configmaps namespaces secrets serviceaccounts'],
      ['update', 'core', 'secrets serviceaccounts'],
      ['create', 'authentication.@group', 'tokenreviews'],
      ['create', 'authorization.@group', 'subjectaccessreviews'],
      ['list watch', '*', '*'],
      ['create', 'core', 'serviceaccounts/token'],
    ],
  },
  { name: 'system:@short-dns', rules: [['list watch', 'core', 'endpoints services']] },
  {
    name: 'system:@short-scheduler',
    rules: [
      RECORD_EVENTS,
      ['create', 'coordination.@group', 'leases'],
      ['get update', 'coordination.@group', 'leases', '@short-scheduler'],
      ['create', 'core', 'endpoints'],
      ['get update', 'core', 'endpoints', '@short-scheduler'],
      [READ, 'core', 'nodes'],
      ['delete get list watch', 'core', 'pods'],
      ['create', 'core', 'bindings pods/binding'],
      ['patch update', 'core', 'pods/status'],
      [READ, 'core', 'replicationcontrollers services'],
      [READ, 'apps extensions', 'replicasets'],
      [READ, 'apps', 'statefulsets'],
      [READ, 'policy', 'poddisruptionbudgets'],
      [READ, 'core', 'persistentvolumeclaims persistentvolumes'],
      ['create', 'authentication.@group', 'tokenreviews'],
      ['create', 'authorization.@group', 'subjectaccessreviews'],
      [READ, 'storage.@group', 'csinodes'],
      [READ, 'core', 'namespaces'],
      [READ, 'storage.@group', 'csidrivers'],
      [READ, 'storage.@group', 'csistoragecapacities'],
    ],
  },
  {
    name: 'system:@agent-api-admin',
    rules: [
      [READ, 'core', 'nodes'],
      ['proxy', 'core', 'nodes'],
      ['*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats'],
    ],
  },
  { name: 'system:monitoring', rules: [['get', '/healthz /healthz/* /livez /livez/* /metrics /readyz /readyz/*']] },
  {
    name: 'system:node',
    rules: [
      ['create', 'authentication.@group', 'tokenreviews'],
      ['create', 'authorization.@group', 'localsubjectaccessreviews subjectaccessreviews'],
      [READ, 'core', 'services'],
      ['create get list watch', 'core', 'nodes'],
      ['patch update', 'core', 'nodes/status'],
      ['patch update', 'core', 'nodes'],
      ['create patch update', 'core', 'events'],
      [READ, 'core', 'pods'],
      ['create delete', 'core', 'pods'],
      ['patch update', 'core', 'pods/status'],
      ['create', 'core', 'pods/eviction'],
      [READ, 'core', 'configmaps secrets'],
      ['get', 'core', 'persistentvolumeclaims persistentvolumes'],
      ['get', 'core', 'endpoints'],
      ['create get list watch', 'certificates.@group', 'certificatesigningrequests'],
      ['create delete get patch update', 'coordination.@group', 'leases'],
      ['get', 'storage.@group', 'volumeattachments'],
      ['create', 'core', 'serviceaccounts/token'],
      ['get patch update', 'core', 'persistentvolumeclaims/status'],
      [READ, 'storage.@group', 'csidrivers'],
      ['create delete get patch update', 'storage.@group', 'csinodes'],
      [READ, 'node.@group', 'runtimeclasses'],
    ],
  },
  {
    name: 'system:node-bootstrapper',
    rules: [['create get list watch', 'certificates.@group', 'certificatesigningrequests']],
  },
  {
    name: 'system:node-problem-detector',
    rules: [['get', 'core', 'nodes'], ['patch', 'core', 'nodes/status'], RECORD_EVENTS],
  },
  {
    name: 'system:node-proxier',
    rules: [
      ['list watch', 'core', 'endpoints services'],
      [READ, 'core', 'nodes'],
      RECORD_EVENTS,
      ['list watch', 'discovery.@group', 'endpointslices'],
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      ['create delete get list watch', 'core', 'persistentvolumes'],
      ['get list update watch', 'core', 'persistentvolumeclaims'],
      [READ, 'storage.@group', 'storageclasses'],
      ['watch', 'core', 'events'],
      RECORD_EVENTS,
    ],
  },
  { name: 'system:public-info-viewer', rules: [['get', '/healthz /livez /readyz /version /version/']] },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [['get', '/.well-known/openid-configuration /openid/v1/jwks']],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      ['get list patch update watch', 'core', 'persistentvolumes'],
      [READ, 'storage.@group', 'storageclasses'],
      ['get list patch update watch', 'core', 'persistentvolumeclaims'],
    ],
  },
  { name: 'view', partOf: 'edit', sumOf: 'view', rules: [] },
];

/** Subjects by the cluster role they are bound to, as `<kind> <name>`; service accounts are those of the system namespace. */
export const CLUSTER_ROLE_SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['Group system:masters'],
  'system:basic-user': ['Group system:authenticated'],
  'system:discovery': ['Group system:authenticated'],
  'system:@short-controller-manager': ['User system:@short-controller-manager'],
  'system:@short-dns': ['ServiceAccount @short-dns'],
  'system:@short-scheduler': ['User system:@short-scheduler'],
  'system:monitoring': ['Group system:monitoring'],
  'system:node': [],
  'system:node-proxier': ['User system:@short-proxy'],
  'system:public-info-viewer': ['Group system:authenticated', 'Group system:unauthenticated'],
  'system:service-account-issuer-discovery': ['Group system:serviceaccounts'],
  'system:volume-scheduler': ['User system:@short-scheduler'],
};
