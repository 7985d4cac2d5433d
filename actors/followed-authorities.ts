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
  /** Those of clients and those of proxies, each by themselves: where the ones are of no use, the others are believed all the same. */
  readonly #followed: readonly FollowedFiles[];

  /**
   * Without files nothing is followed. `onRead` is given what the files of one kind hold at the start, and when it has changed; with the
   * other kind absent, it is as it was. What it throws or rejects with, those are not believed for.
   */
  constructor(
    { disk, log, timers }: Pick<ActorContext, 'disk' | 'log' | 'timers'>,
    files: AuthorityFiles | undefined,
    onRead: (bundles: Partial<AuthorityBundles>) => void | Promise<void>,
  ) {
    this.#followed = (['client', 'proxy'] as const).map((kind) => {
      const paths = files?.[kind] ?? [];
      return new FollowedFiles({
        disk,
        timers,
        paths,
        take: (texts) => onRead({ [kind]: paths.map((path, index) => bundleOf(path, texts[index]!)).join('') }),
        onRefused: (error) => log.warn({ err: error }, 'the authorities that were replaced are not believed'),
      });
    });
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await Promise.all(this.#followed.map((files) => files.start()));
  }

  stop(): void {
    for (const files of this.#followed) files.stop();
  }
}
