// All conversion steps together. A version of a kind that is not among them has the form of the kind's hub version.
import { apiextensionsSteps } from './apiextensions.ts';
import { authorizationSteps } from './authorization.ts';
import { autoscalingSteps } from './autoscaling.ts';
import { discoverySteps } from './discovery.ts';
import { eventSteps } from './events.ts';
import { networkingSteps } from './networking.ts';
import { nodeSteps } from './node.ts';
import { policySteps } from './policy.ts';
import { rbacSteps } from './rbac.ts';
import type { StepTable } from './step.ts';

export const STEPS: StepTable = {
  ...apiextensionsSteps,
  ...authorizationSteps,
  ...autoscalingSteps,
  ...discoverySteps,
  ...eventSteps,
  ...networkingSteps,
  ...nodeSteps,
  ...policySteps,
  ...rbacSteps,
};
