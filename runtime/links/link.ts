// This thread's connection to one other thread, for as long as both are in the plan. Refs hold on to it, so they stay
// valid when the other thread is replaced: in between, nothing is delivered.
import type { MessagePort } from 'node:worker_threads';
import type { AskOptions } from '../actor.ts';
import type { FlatFormTable } from '../flat-form.ts';
import type { AnyRef } from '../messages/local-ref.ts';
import { actorDown, cancelled, overloaded } from '../messages/pending-ask.ts';
import type { Address } from '../placement/plan.ts';
import { turn } from '../turn.ts';
import { type LinkHost, LinkSession, type Window } from './link-session.ts';

export class Link {
  private readonly host: LinkHost;
  private readonly refs = new Map<number, RemoteRef>();
  private session: LinkSession | undefined;

  constructor(host: LinkHost) {
    this.host = host;
  }

  /** Uses `port` from now on; what the port before it had pending fails with ActorDown. */
  attach(port: MessagePort): void {
    this.detach();
    this.session = new LinkSession(
      port,
      this.host,
      (actorId) => this.refs.get(actorId),
      (session) => {
        if (session === this.session) this.detach();
      },
    );
  }

  /** The other thread is gone. Pending asks fail with ActorDown; so do new ones, until `attach`. */
  detach(): void {
    const { session } = this;
    this.session = undefined;
    for (const ref of this.refs.values()) {
      ref.outstanding = 0;
      ref.told = 0;
    }
    session?.end();
  }

  /** The session while the other thread lives. */
  get current(): LinkSession | undefined {
    return this.session;
  }

  ref(address: Address): AnyRef {
    const known = this.refs.get(address.id);
    if (known !== undefined) return known;
    const ref = new RemoteRef(this, address);
    this.refs.set(address.id, ref);
    return ref;
  }
}

/** A ref across the link, and the window that bounds what it has on the way: unanswered asks leave room for tells. */
class RemoteRef implements AnyRef, Window {
  readonly name: string;
  readonly actorId: number;
  readonly max: number;
  readonly flat: FlatFormTable | undefined;
  outstanding = 0;
  told = 0;
  private readonly link: Link;

  constructor(link: Link, address: Address) {
    this.link = link;
    this.name = address.name;
    this.actorId = address.id;
    this.max = address.mailboxMax;
    this.flat = address.flat;
  }

  ask(message: object, options: AskOptions): Promise<unknown> {
    const session = this.link.current;
    if (session === undefined) return Promise.reject(actorDown(this.name));
    if (this.outstanding >= this.max) return Promise.reject(overloaded(this.name));
    if (options.signal?.aborted) return Promise.reject(cancelled(this.name));
    return session.sendAsk(this, message, options);
  }

  askSoon(message: object, options: AskOptions): Promise<unknown> {
    return this.ask(message, options);
  }

  tell(message: object, requestNumber = turn.requestNumber): 'queued' | 'full' {
    const session = this.link.current;
    if (session === undefined || this.told >= this.max) return 'full';
    session.sendTell(this, message, requestNumber);
    return 'queued';
  }

  tellSoon(message: object, requestNumber?: number): 'queued' | 'full' {
    return this.tell(message, requestNumber);
  }
}
