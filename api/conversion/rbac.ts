// Role bindings of v1alpha1: their subjects have an apiVersion where later versions have an apiGroup.
import { eachOf, type Pair, type StepTable } from './step.ts';

const GROUP = 'rbac.authorization.@group';
const EVERYONE = 'system:authenticated';

const subject: Pair = {
  up: ({ apiVersion = '', ...rest }, { dialect }) => {
    const group = dialect.spell(GROUP);
    // In this version the user * is everyone who is authenticated.
    if (rest.kind === 'User' && rest.name === '*') return { ...rest, kind: 'Group', name: EVERYONE, apiGroup: group };
    if (rest.kind === 'User' || rest.kind === 'Group') return { ...rest, apiGroup: group };
    if (rest.kind === 'ServiceAccount') return rest;
    const text = String(apiVersion);
    return { ...rest, apiGroup: text.slice(0, Math.max(0, text.lastIndexOf('/'))) };
  },
  down: ({ apiGroup = '', ...rest }, { dialect }) => {
    if (rest.kind === 'ServiceAccount') return { ...rest, apiVersion: 'v1' };
    if (rest.kind === 'User' || rest.kind === 'Group')
      return { ...rest, apiVersion: `${dialect.spell(GROUP)}/v1alpha1` };
    return { ...rest, apiVersion: apiGroup === '' ? '' : `${String(apiGroup)}/` };
  },
};

const subjects = eachOf('subjects', subject);

export const rbacSteps: StepTable = {
  'rbac/v1alpha1.ClusterRoleBinding': { hub: 'rbac/v1.ClusterRoleBinding', ...subjects },
  'rbac/v1alpha1.RoleBinding': { hub: 'rbac/v1.RoleBinding', ...subjects },
};
