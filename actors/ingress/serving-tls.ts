// What the listener shows of itself, kept as the operator's files have it: read before the listener opens, and again when they
// change. A file that is of no use is told of once, and what was served before goes on.
import type { ActorContext } from '../../runtime/actor.ts';
import { FollowedFiles } from '../../runtime/files/followed-files.ts';
import type { Listener, TlsMaterial } from '../../transport/http.ts';
import { untimeliness } from '../../transport/tls/certificates.ts';
import { materialOf, pathsOf, type TlsFiles } from '../../transport/tls/material-files.ts';

export class ServingTls {
  readonly #log: ActorContext['log'];
  readonly #clock: ActorContext['clock'];
  readonly #files: FollowedFiles;
  #material: TlsMaterial;
  readonly #listeners = new Set<Listener>();

  /** `material`: as the files had it when the process started. */
  constructor({ clock, disk, log, timers }: ActorContext, files: TlsFiles, material: TlsMaterial) {
    this.#log = log;
    this.#clock = clock;
    this.#material = material;
    this.#files = new FollowedFiles({
      disk,
      timers,
      paths: pathsOf(files),
      take: (texts) => this.#replace(materialOf(files, texts, material)),
      onRefused: (error) => log.warn({ err: error }, 'the certificates that were replaced are not served'),
    });
  }

  /** As the files had it at the last look. */
  get material(): TlsMaterial {
    return this.#material;
  }

  /** As the files have it now. */
  async read(): Promise<TlsMaterial> {
    await this.#files.start();
    return this.#material;
  }

  /** From now on a listener, opened with `material`, is told of what changes. */
  async follow(listener: Listener, material: TlsMaterial): Promise<void> {
    this.#listeners.add(listener);
    if (this.#material !== material) await listener.replaceTls(this.#material);
  }

  stop(): void {
    this.#files.stop();
    this.#listeners.clear();
  }

  async #replace(material: TlsMaterial): Promise<void> {
    for (const listener of this.#listeners) await listener.replaceTls(material);
    this.#material = material;
    if (this.#listeners.size === 0) return;
    this.#log.info('new connections are served with the certificates as they are now');
    const problem = untimeliness(material.certPem, this.#clock.nowMs());
    if (problem !== undefined) this.#log.warn(`clients refuse the certificate that is served: it ${problem}`);
  }
}
