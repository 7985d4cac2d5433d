// What a scheduling core is made of: the profiles it decides by, and what it may be told to do otherwise.
import type { Dialect } from '../../../config/dialect.ts';
import type { Random } from '../../../runtime/environment.ts';
import type { Profile } from '../framework/framework.ts';
import type { CycleTiming } from './cycle-timing.ts';
import type { Outsiders } from './open-questions.ts';
import type { QueueOptions } from './queue.ts';

export interface CoreOptions {
  /** Pods whose spec.schedulerName none of them has are left alone; they still count on their nodes. */
  readonly profiles: readonly Profile[];
  readonly random: Random;
  readonly dialect: Dialect;
  /** Stop looking for nodes when this share of them is feasible; 0 adapts to the size of the cluster. */
  readonly percentageOfNodesToScore?: number;
  /** A pod that was promised room goes there while it fits. */
  readonly prefersNominatedNode?: boolean;
  /** How long an assumed pod waits for its binding to show in the events. */
  readonly assumedMaxMs?: number;
  readonly queue?: QueueOptions;
  readonly outsiders?: Outsiders | undefined;
  /** Told how long extension points take. */
  readonly timing?: CycleTiming | undefined;
}
