// What the listener shows of itself, kept as the operator's files have it: read before the listener opens, and again when they
// change. A file that is of no use is told of once, and what was served before goes on.
import type { ActorContext } from '../../runtime/actor.ts';
import { FollowedFiles } from '../../runtime/files/followed-files.ts';
import { InOrder } from '../../runtime/in-order.ts';
import type { KeyPair, Listener, TlsMaterial } from '../../transport/http.ts';
import { untimeliness } from '../../transport/tls/certificates.ts';
import { bundleOf, type PairFiles, pairOf, type TlsFiles } from '../../transport/tls/material-files.ts';

/** Without a pair: what is served to whoever asks for none of the names is from no file. */
export type FollowedTls = Omit<TlsFiles, keyof PairFiles> & Partial<PairFiles>;

/** Of what is served. */
type Change = (now: TlsMaterial) => TlsMaterial;

export class ServingTls {
  readonly #log: ActorContext['log'];
  readonly #clock: ActorContext['clock'];
  /** Each pair, and each bundle of authorities, by itself: one that is of no use keeps none of the others from being served. */
  readonly #files: readonly FollowedFiles[];
  /** As the process started. */
  readonly #first: TlsMaterial;
  #material: TlsMaterial;
  /** By path, of those that have been read. */
  readonly #bundles = new Map<string, string>();
  readonly #listeners = new Set<Listener>();
  /** What has changed at once is put into force one after the other. */
  readonly #replacing = new InOrder();

  /** `material`: as the files had it when the process started. */
  constructor(
    { clock, disk, log, timers }: Pick<ActorContext, 'clock' | 'disk' | 'log' | 'timers'>,
    files: FollowedTls,
    material: TlsMaterial,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#first = material;
    this.#material = material;
    const follow = (paths: readonly string[], change: (texts: readonly string[]) => Change): FollowedFiles => {
      const onRefused = (error: unknown): void =>
        log.warn({ err: error }, 'the certificates that were replaced are not served');
      return new FollowedFiles({ disk, timers, paths, take: (texts) => this.#take(change(texts)), onRefused });
    };
    const followPair = (pair: PairFiles, change: (pems: KeyPair) => Change): FollowedFiles =>
      follow([pair.certFile, pair.keyFile], ([cert = '', key = '']) => change(pairOf(pair, cert, key)));
    const { certFile, keyFile } = files;
    this.#files = [
      ...(certFile === undefined || keyFile === undefined
        ? []
        : [followPair({ certFile, keyFile }, (pems) => (now) => ({ ...now, ...pems }))]),
      ...files.named.map((named, place) =>
        followPair(named, (pems) => (now) => ({
          ...now,
          namedPairs: (now.namedPairs ?? []).map((one, index) => (index === place ? { ...one, ...pems } : one)),
        })),
      ),
      ...files.clientCa.map((path) =>
        follow([path], ([pem = '']) => {
          this.#bundles.set(path, bundleOf(path, pem));
          return (now) => ({ ...now, clientCaPem: this.#authorities(files.clientCa) });
        }),
      ),
    ];
  }

  /** As the files had it at the last look. */
  get material(): TlsMaterial {
    return this.#material;
  }

  /** As the files have it now. */
  async read(): Promise<TlsMaterial> {
    await Promise.all(this.#files.map((files) => files.start()));
    return this.#material;
  }

  /** From now on a listener, opened with `material`, is told of what changes. */
  async follow(listener: Listener, material: TlsMaterial): Promise<void> {
    this.#listeners.add(listener);
    if (this.#material !== material) await listener.replaceTls(this.#material);
  }

  /** Clients are asked for certificates of these authorities, which are from no file that is followed here; empty for none. */
  ask(clientCaPem: string): Promise<void> {
    return this.#take(({ clientCaPem: _, ...now }) => (clientCaPem === '' ? now : { ...now, clientCaPem }));
  }

  stop(): void {
    for (const files of this.#files) files.stop();
    this.#listeners.clear();
  }

  #take(change: Change): Promise<void> {
    return this.#replacing.run(() => this.#replace(change(this.#material)));
  }

  /** Where a file has been of no use since before us, what it held is only known together with the others. */
  #authorities(paths: readonly string[]): string {
    const known = paths.flatMap((path) => this.#bundles.get(path) ?? []);
    return (known.length < paths.length ? [this.#first.clientCaPem ?? '', ...known] : known).join('');
  }

  async #replace(material: TlsMaterial): Promise<void> {
    const isOther = material.certPem !== this.#material.certPem;
    for (const listener of this.#listeners) await listener.replaceTls(material);
    this.#material = material;
    if (this.#listeners.size === 0) return;
    this.#log.info('new connections are served with the certificates as they are now');
    if (!isOther) return;
    const problem = untimeliness(material.certPem, this.#clock.nowMs());
    if (problem !== undefined) this.#log.warn(`clients refuse the certificate that is served: it ${problem}`);
  }
}
