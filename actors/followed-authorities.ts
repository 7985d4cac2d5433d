// The authorities of client certificates and of proxies, as their files have them while the server runs. Every actor that goes
// by them follows the files itself.
import type { ActorContext } from '../runtime/actor.ts';
import { FollowedFiles } from '../runtime/files/followed-files.ts';
import { bundleOf } from '../transport/tls/material-files.ts';

/** Absolute paths; none: there are no such authorities. Plain data: it crosses threads. */
export interface AuthorityFiles {
  readonly client: readonly string[];
  readonly proxy: readonly string[];
}

/** PEM texts; empty where there are no files. */
export interface AuthorityBundles {
  readonly client: string;
  readonly proxy: string;
}

export class FollowedAuthorities {
  readonly #files: FollowedFiles;

  /** Without files nothing is followed. `onRead` is given what the files hold at the start, and when it has changed. */
  constructor(
    { disk, log, timers }: Pick<ActorContext, 'disk' | 'log' | 'timers'>,
    files: AuthorityFiles | undefined,
    onRead: (bundles: AuthorityBundles) => void,
  ) {
    const { client, proxy } = files ?? { client: [], proxy: [] };
    const paths = [...client, ...proxy];
    this.#files = new FollowedFiles({
      disk,
      timers,
      paths,
      take: (texts) => {
        const bundles = paths.map((path, index) => bundleOf(path, texts[index]!));
        onRead({
          client: bundles.slice(0, client.length).join(''),
          proxy: bundles.slice(client.length).join(''),
        });
      },
      onRefused: (error) => log.warn({ err: error }, 'the authorities that were replaced are not believed'),
    });
  }

  /** Resolves after the first look. */
  start(): Promise<void> {
    return this.#files.start();
  }

  stop(): void {
    this.#files.stop();
  }
}
