// An operator on the informers of the Node client: makes a config map of each widget, and says in its status what it has seen. Acts on
// events alone: nothing is looked at again by time.
import * as k8s from '@kubernetes/client-node';
import { WIDGETS, type Widget } from './widgets.ts';

const LANES = 4;
const AGAIN_MS = 100;

export class NodeOperator {
  /** Widgets that it acted on. */
  acted = 0;
  readonly #core: k8s.CoreV1Api;
  readonly #custom: k8s.CustomObjectsApi;
  readonly #informer: k8s.Informer<Widget>;
  readonly #place: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly namespace: string;
  };
  /** The newest of each that is to be acted on. */
  readonly #wanted = new Map<string, Widget>();
  #isOn = false;
  #lanes: Promise<void>[] = [];
  #wake: () => void = () => {};
  #news = this.#nextNews();

  constructor(config: k8s.KubeConfig, namespace: string, labelSelector: string) {
    this.#core = config.makeApiClient(k8s.CoreV1Api);
    this.#custom = config.makeApiClient(k8s.CustomObjectsApi);
    this.#place = { ...WIDGETS, namespace };
    const { group, version, plural } = WIDGETS;
    const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
    const list = async (): Promise<k8s.KubernetesListObject<Widget>> =>
      (await this.#custom.listNamespacedCustomObject({
        ...this.#place,
        labelSelector,
      })) as k8s.KubernetesListObject<Widget>;
    this.#informer = k8s.makeInformer<Widget>(config, path, list, labelSelector);
    const see = (widget: Widget): void => {
      // What it wrote itself is no news.
      if (widget.status?.observedSize === widget.spec.size && widget.status.observedColor === widget.spec.color) return;
      this.#wanted.set(widget.metadata.name, widget);
      this.#wake();
    };
    this.#informer.on('add', see);
    this.#informer.on('update', see);
    this.#informer.on('delete', ({ metadata }) => void this.#wanted.delete(metadata.name));
    this.#informer.on('error', () => this.#again());
  }

  async start(): Promise<void> {
    this.#isOn = true;
    this.#lanes = Array.from({ length: LANES }, () => this.#work());
    await this.#informer.start();
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    await this.#informer.stop();
    this.#wake();
    await Promise.all(this.#lanes);
  }

  #again(): void {
    setTimeout(() => {
      if (this.#isOn) this.#informer.start().catch(() => this.#again());
    }, AGAIN_MS);
  }

  #nextNews(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#news = this.#nextNews();
        resolve();
      };
    });
  }

  async #work(): Promise<void> {
    while (this.#isOn) {
      const [widget] = this.#wanted.values();
      if (widget === undefined) {
        await this.#news;
        continue;
      }
      const { name } = widget.metadata;
      this.#wanted.delete(name);
      try {
        await this.#act(widget);
        this.acted++;
      } catch (error) {
        // Gone, and its config map with it.
        if (error instanceof k8s.ApiException && error.code === 404) continue;
        if (!this.#wanted.has(name)) this.#wanted.set(name, widget);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  async #act({ apiVersion, kind, metadata: { name, uid }, spec }: Widget): Promise<void> {
    const { namespace } = this.#place;
    const data = Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, String(value)]));
    const body = { metadata: { name, ownerReferences: [{ apiVersion, kind, name, uid }] }, data };
    try {
      await this.#core.createNamespacedConfigMap({ namespace, body });
    } catch (error) {
      if (!(error instanceof k8s.ApiException && error.code === 409)) throw error;
      await this.#core.replaceNamespacedConfigMap({ name, namespace, body });
    }
    const observedColor = spec.color === undefined ? {} : { observedColor: spec.color };
    const value = { observedSize: spec.size, ...observedColor };
    const patch = [{ op: 'add', path: '/status', value }];
    await this.#custom.patchNamespacedCustomObjectStatus({ ...this.#place, name, body: patch });
  }
}
