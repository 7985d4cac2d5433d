// NodePreferAvoidPods: a node may ask, in an annotation, to be spared the pods of certain controllers.
import { SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';

/** Only these kinds of controllers are known to make their pods anew elsewhere. */
const HEEDED = /(?:^|\/)(ReplicationController|ReplicaSet)$/;

export const nodePreferAvoidPods: ScorePlugin = {
  name: 'NodePreferAvoidPods',
  prepareScore({ owner }, { hasAvoidingNodes }) {
    if (!hasAvoidingNodes || owner === undefined) return null;
    const kind = HEEDED.exec(owner.kind)?.[1];
    if (kind === undefined) return null;
    return {
      normalize: 'none',
      score: ({ avoids }) =>
        avoids.some((avoided) => avoided.kind === kind && avoided.uid === owner.uid) ? 0 : SCORE_MAX,
    };
  },
};
