// The informers of the Node client, kept going as its documentation says: started again after an error. What they hold is
// compared by name and version.
import * as k8s from '@kubernetes/client-node';

const AGAIN_MS = 100;

export type Cache = Readonly<Record<string, string>>;

interface Listed {
  readonly metadata?: Pick<k8s.V1ObjectMeta, 'name' | 'namespace' | 'resourceVersion'>;
}

export class Informer {
  readonly name: string;
  #connects = 0;
  #lists = 0;
  #cache: () => Cache = () => ({});
  #start: () => Promise<void> = async () => {};
  #stop: () => Promise<void> = async () => {};
  #isOn = false;

  private constructor(name: string) {
    this.name = name;
  }

  /** Of the objects that `list` lists and a watch at `path` follows. */
  static of<T extends Listed>(
    name: string,
    config: k8s.KubeConfig,
    path: string,
    list: k8s.ListPromise<T>,
    selector?: string,
  ): Informer {
    const informer = new Informer(name);
    const counted: k8s.ListPromise<T> = () => {
      informer.#lists++;
      return list();
    };
    const inner = k8s.makeInformer(config, path, counted, selector);
    inner.on('connect', () => {
      informer.#connects++;
    });
    inner.on('error', () => {
      setTimeout(() => {
        if (informer.#isOn) void inner.start();
      }, AGAIN_MS);
    });
    informer.#cache = () => cacheOf(inner.list());
    informer.#start = () => inner.start();
    informer.#stop = () => inner.stop();
    return informer;
  }

  /** Lists after the first: how often a watch could not go on. */
  get expired(): number {
    return this.#lists - 1;
  }

  /** How often a watch was tried where another had been cut off. */
  get resumed(): number {
    return this.#connects - this.#lists;
  }

  get cache(): Cache {
    return this.#cache();
  }

  async start(): Promise<void> {
    this.#isOn = true;
    await this.#start();
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    await this.#stop();
  }
}

/** What is held or listed: the version of each object, by namespace and name. */
export function cacheOf(objects: readonly Listed[]): Cache {
  return Object.fromEntries(
    objects
      .map(({ metadata }) => [`${metadata?.namespace}/${metadata?.name}`, metadata?.resourceVersion ?? ''] as const)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}
