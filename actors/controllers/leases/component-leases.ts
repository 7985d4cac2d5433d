// The leases by which the servers of one kind know of each other: told apart by a label, one of them this server's own, all in the
// system namespace. Knows how they are written and taken away; when, and what they say, is their controller's.
import { asObject, partAt } from '../../../api/json/object-fields.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { WriteTarget } from '../../admission/protocol.ts';
import { type ApiObject, deletionOf, type Write } from '../controller.ts';

interface ComponentLease {
  readonly lease: ApiObject;
  readonly revision: number;
}

export class ComponentLeases {
  /** As controllers want it. */
  readonly storageKey: string;
  /** The name of this server's. */
  readonly own: string;
  readonly #group: string;
  readonly #namespace: string;
  readonly #label: readonly [key: string, value: string];

  /** `component`: what the label says. `suffix`: what the name of this server's lease has behind that. */
  constructor(dialect: Dialect, component: string, suffix: string) {
    this.#group = dialect.spell('coordination.@group');
    this.#namespace = dialect.systemNamespace;
    this.#label = [dialect.spell('@group/component'), component];
    this.own = `${component}-${suffix}`;
    this.storageKey = `${this.#group}/leases`;
  }

  /** Whether it may be about one of them: by its namespace alone. */
  isNear({ namespace }: FeedEvent): boolean {
    return namespace === this.#namespace;
  }

  /** The lease that an event of their namespace shows; undefined where it is none of them. */
  shownBy(event: FeedEvent): ApiObject | undefined {
    const lease = event.object();
    const [key, value] = this.#label;
    return asObject(partAt(lease, 'metadata').labels)[key] === value ? lease : undefined;
  }

  /** This server's lease with another spec; `stored` is undefined where there is none yet. */
  renewal(stored: ApiObject | undefined, spec: object): Write {
    if (stored !== undefined) return { verb: 'update', target: this.#target(this.own), body: { ...stored, spec } };
    const [key, value] = this.#label;
    const metadata = { name: this.own, namespace: this.#namespace, labels: { [key]: value } };
    const body = { apiVersion: `${this.#group}/v1`, kind: 'Lease', metadata, spec };
    return { verb: 'create', target: this.#target(''), body };
  }

  /** The revision is a precondition: a lease that was renewed meanwhile stays. */
  removal(name: string, { lease, revision }: ComponentLease): Write {
    const { uid = '' } = metadataOf(lease);
    return deletionOf(this.#target(name), { uid, resourceVersion: String(revision) });
  }

  /** This server's, whatever it says. */
  end(): Write {
    return { verb: 'delete', target: this.#target(this.own) };
  }

  #target(name: string): WriteTarget {
    return { group: this.#group, version: 'v1', resource: 'leases', subresource: '', namespace: this.#namespace, name };
  }
}
