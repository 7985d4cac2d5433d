// The authorities of clients that change under a scheduler that goes on serving: those of its options' files, and those that the cluster
// has. Finds out that they are others; putting them into force is the owner's. What is of no use leaves in force what was, of its kind.
import type { Logger } from 'pino';
import { type AuthorityBundles, FollowedAuthorities } from '../../actors/followed-authorities.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import type { Timer } from '../../runtime/environment.ts';
import { InOrder } from '../../runtime/in-order.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { ClusterAuthorities } from './published-authorities.ts';
import type { ClientAuthorities } from './scheduler-access.ts';
import { clientAuthorities, clusterAuthorities, looksUp, ownFiles } from './scheduler-authorities.ts';

/** The cluster's authorities are looked up again as often. */
const LOOKUP_EVERY_MS = 60_000;

export interface ReplacedAuthoritiesParts {
  readonly options: SchedulerOptions;
  /** Those in force, by what they are from. */
  readonly own: AuthorityBundles;
  readonly cluster: ClusterAuthorities;
  readonly log: Logger;
  readonly take: (authorities: ClientAuthorities) => Promise<void>;
}

export class ReplacedAuthorities {
  readonly #parts: ReplacedAuthoritiesParts;
  readonly #followed: FollowedAuthorities;
  #own: AuthorityBundles;
  #cluster: ClusterAuthorities;
  #timer: Timer | undefined;
  #inForce: string;
  /** One after the other, each beside what the others have put into force. */
  readonly #taking = new InOrder();

  constructor(parts: ReplacedAuthoritiesParts) {
    this.#parts = parts;
    const { options, own, cluster, log } = parts;
    this.#own = own;
    this.#cluster = cluster;
    this.#inForce = JSON.stringify(clientAuthorities(options, own, cluster));
    this.#followed = new FollowedAuthorities({ ...realEnvironment, log }, ownFiles(options), (bundles) =>
      this.#taking.run(() => this.#take({ ...this.#own, ...bundles }, this.#cluster)),
    );
  }

  async start(): Promise<void> {
    await this.#followed.start();
    const { options, log } = this.#parts;
    if (!looksUp(options)) return;
    this.#timer = realEnvironment.timers.every(LOOKUP_EVERY_MS, () => {
      this.#look().catch((err: unknown) => log.warn({ err }, 'the authorities of the cluster are as they were'));
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#followed.stop();
  }

  async #look(): Promise<void> {
    // A cluster that does not answer has not taken its authorities back.
    const options = { ...this.#parts.options, authenticationTolerateLookupFailure: false };
    const found = await clusterAuthorities(options, () => {});
    await this.#taking.run(() => this.#take(this.#own, found));
  }

  async #take(own: AuthorityBundles, cluster: ClusterAuthorities): Promise<void> {
    const { options, take, log } = this.#parts;
    const authorities = clientAuthorities(options, own, cluster);
    const text = JSON.stringify(authorities);
    if (text !== this.#inForce) {
      await take(authorities);
      log.info('clients are believed by other authorities');
    }
    this.#inForce = text;
    this.#own = own;
    this.#cluster = cluster;
  }
}
