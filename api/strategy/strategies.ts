// The strategies of all kinds that have one, by the first label of the group (`core` for the group without a name) and the
// plural: one key for every version and dialect.
import { kindKey } from '../kind-key.ts';
import type { ResourceType } from '../resource-type.ts';
import { customResourceDefinition } from './apiextensions/custom-resource-definition.ts';
import { apiService } from './apiregistration/api-service.ts';
import { daemonSet } from './apps/daemon-set.ts';
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts';
import { job } from './batch/job.ts';
import { certificateSigningRequest } from './certificates/certificate-signing-request.ts';
import { limitRange } from './core/limit-range.ts';
import { namespace } from './core/namespace.ts';
import { node } from './core/node.ts';
import { pod } from './core/pod.ts';
import { secret } from './core/secret.ts';
import { service } from './core/service.ts';
import { serviceAccount } from './core/service-account.ts';
import { endpointSlice } from './discovery/endpoint-slice.ts';
import { binding, clusterRole, role } from './rbac/grants.ts';
import { priorityClass } from './scheduling/priority-class.ts';
import { NO_RULES, type Strategy } from './strategy.ts';

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  'apiextensions/customresourcedefinitions': customResourceDefinition,
  'apiregistration/apiservices': apiService,
  'apps/daemonsets': daemonSet,
  'autoscaling/horizontalpodautoscalers': horizontalPodAutoscaler,
  'batch/jobs': job,
  'certificates/certificatesigningrequests': certificateSigningRequest,
  'core/limitranges': limitRange,
  'core/namespaces': namespace,
  'core/nodes': node,
  'core/pods': pod,
  'core/secrets': secret,
  'core/serviceaccounts': serviceAccount,
  'core/services': service,
  'discovery/endpointslices': endpointSlice,
  'rbac/clusterrolebindings': binding,
  'rbac/clusterroles': clusterRole,
  'rbac/rolebindings': binding,
  'rbac/roles': role,
  'scheduling/priorityclasses': priorityClass,
};

/** The rules of a type; the empty ones where it has none. */
export function strategyOf(type: Pick<ResourceType, 'group' | 'plural'>): Strategy {
  return STRATEGIES[kindKey(type)] ?? NO_RULES;
}
