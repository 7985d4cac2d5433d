// Runtime classes of v1alpha1: a spec, and in it the handler under a longer name.
import type { JsonObject } from '../json/json-value.ts';
import type { Pair, StepTable } from './step.ts';

const runtimeClass: Pair = {
  up: ({ spec, ...rest }) => {
    const { runtimeHandler, ...others } = (spec ?? {}) as JsonObject;
    return { ...rest, ...others, handler: runtimeHandler };
  },
  down: ({ handler, overhead, scheduling, ...rest }) => ({
    ...rest,
    spec: { runtimeHandler: handler, overhead, scheduling },
  }),
};

export const nodeSteps: StepTable = {
  'node/v1alpha1.RuntimeClass': { hub: 'node/v1.RuntimeClass', ...runtimeClass },
};
