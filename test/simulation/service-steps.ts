// Services of every type that come, change what they are and go, where there is not much to be given to them: some ask for the same
// address or port, some take any, and some are held by a finalizer while they have theirs.
import { MERGED, SERVICES } from './client.ts';
import { type Hand, NAMESPACES, type ObjectName } from './hand.ts';

const NAMES = ['v0', 'v1', 'v2', 'v3'] as const;
const ADDRESSES = ['10.0.0.3', '10.0.0.4'] as const;
const PORTS = [30_001, 30_002] as const;
const TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'headless'] as const;
const DRY_RUNS = 10;

type ServiceType = (typeof TYPES)[number];

export class ServiceSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  async step(): Promise<void> {
    const choice = this.#hand.random.below(8);
    if (choice < 3) await this.#write('create');
    else if (choice < 5) await this.#write('update');
    else if (choice < 6) await this.#patch();
    else await this.#delete();
  }

  /** An update says all anew, and leaves to the server what it does not say. */
  async #write(kind: 'create' | 'update'): Promise<void> {
    const hand = this.#hand;
    const key = this.#name();
    const tag = hand.tag();
    const held = hand.rarely(5);
    const body = { ...hand.object(key, tag, held), spec: this.#spec(hand.pick(TYPES)) };
    await hand.client.write(SERVICES, { kind, ...key, tag, held, dry: hand.rarely(DRY_RUNS), body });
  }

  /** To another type, or of the metadata alone. */
  async #patch(): Promise<void> {
    const hand = this.#hand;
    const tag = hand.tag();
    const spec = hand.rarely(3) ? {} : { type: hand.pick(['ClusterIP', 'NodePort', 'LoadBalancer']) };
    await hand.client.write(SERVICES, {
      ...MERGED,
      ...this.#name(),
      tag,
      dry: hand.rarely(DRY_RUNS),
      body: { metadata: { annotations: { tag } }, spec },
    });
  }

  async #delete(): Promise<void> {
    const hand = this.#hand;
    await hand.client.write(SERVICES, { kind: 'delete', ...this.#name(), before: 'kept', dry: hand.rarely(DRY_RUNS) });
  }

  #name(): ObjectName {
    const hand = this.#hand;
    return { namespace: hand.pick(NAMESPACES), name: hand.pick(NAMES) };
  }

  #spec(type: ServiceType): object {
    const hand = this.#hand;
    if (type === 'ExternalName') return { type, externalName: 'elsewhere.example.com' };
    const hasNodePorts = type === 'NodePort' || type === 'LoadBalancer';
    const ports = [{ name: 'one', port: 80 }, ...(hand.rarely(2) ? [{ name: 'two', port: 81 }] : [])].map((port) =>
      hasNodePorts && hand.rarely(2) ? { ...port, nodePort: hand.pick(PORTS) } : port,
    );
    if (type === 'headless') return { clusterIP: 'None', ports };
    const policy = type === 'LoadBalancer' && hand.rarely(2) ? { externalTrafficPolicy: 'Local' } : {};
    return { type, ports, ...policy, ...(hand.rarely(3) ? { clusterIP: hand.pick(ADDRESSES) } : {}) };
  }
}
