// What changes under a scheduler that goes on serving: its certificates, the authorities of its options, and those that the cluster has.
// Finds out that something is another; putting it into force is the owner's. What is of no use leaves in force what was.
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { SchedulerOptions } from '../../config/options.ts';
import type { Timer } from '../../runtime/environment.ts';
import { FollowedFiles } from '../../runtime/files/followed-files.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { ClientAuthorities } from './scheduler-access.ts';
import { clientAuthorities, looksUp } from './scheduler-authorities.ts';

/** The cluster's authorities are looked up again as often. */
const LOOKUP_EVERY_MS = 60_000;

export interface ReplacedMaterialParts {
  readonly options: SchedulerOptions;
  /** Of the certificates that are served. */
  readonly paths: readonly string[];
  /** Those in force. */
  readonly authorities: ClientAuthorities;
  readonly log: Logger;
  readonly takePairs: (texts: readonly string[]) => Promise<void>;
  readonly takeAuthorities: (authorities: ClientAuthorities) => Promise<void>;
}

export class ReplacedMaterial {
  readonly #parts: ReplacedMaterialParts;
  readonly #followed: readonly FollowedFiles[];
  #timer: Timer | undefined;
  #inForce: string;
  /** Those that came last are looked at last. */
  #looking: Promise<void> = Promise.resolve();

  constructor(parts: ReplacedMaterialParts) {
    this.#parts = parts;
    this.#inForce = JSON.stringify(parts.authorities);
    const { paths, options, log, takePairs } = parts;
    const { clientCaFile, requestheaderClientCaFile } = options;
    const authorityPaths = [clientCaFile, requestheaderClientCaFile].filter((path) => path !== '');
    const follow = (followed: readonly string[], take: (texts: readonly string[]) => Promise<void>, what: string) => {
      const { disk, timers } = realEnvironment;
      const onRefused = (err: unknown): void => log.warn({ err }, `${what} that were replaced are not in force`);
      return new FollowedFiles({ disk, timers, paths: followed, take, onRefused });
    };
    this.#followed = [
      follow(paths, takePairs, 'certificates'),
      follow(
        authorityPaths.map((path) => resolve(path)),
        () => this.#look(),
        'authorities of clients',
      ),
    ];
  }

  async start(): Promise<void> {
    await Promise.all(this.#followed.map((files) => files.start()));
    const { options, log } = this.#parts;
    if (!looksUp(options)) return;
    this.#timer = realEnvironment.timers.every(LOOKUP_EVERY_MS, () => {
      this.#look().catch((err: unknown) => log.warn({ err }, 'the authorities of the cluster are as they were'));
    });
  }

  stop(): void {
    this.#timer?.cancel();
    for (const files of this.#followed) files.stop();
  }

  #look(): Promise<void> {
    const looked = this.#looking.then(() => this.#takeOthers());
    this.#looking = looked.catch(() => {});
    return looked;
  }

  async #takeOthers(): Promise<void> {
    const { options, takeAuthorities, log } = this.#parts;
    // A cluster that does not answer has not taken its authorities back.
    const found = await clientAuthorities({ ...options, authenticationTolerateLookupFailure: false }, () => {});
    const text = JSON.stringify(found);
    if (text === this.#inForce) return;
    await takeAuthorities(found);
    this.#inForce = text;
    log.info('clients are believed by other authorities');
  }
}
