// Access reviews: the groups of the user in question were called group.
import { inside, renaming, type StepTable } from './step.ts';

const groups = inside('spec', renaming({ group: 'groups' }));

export const authorizationSteps: StepTable = {
  'authorization/v1beta1.SubjectAccessReview': { hub: 'authorization/v1.SubjectAccessReview', ...groups },
  'authorization/v1beta1.LocalSubjectAccessReview': { hub: 'authorization/v1.LocalSubjectAccessReview', ...groups },
};
