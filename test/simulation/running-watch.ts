// An open watch of a client: reads as fast as the seed says, notes what it is told, and knows where it could be resumed.
import type { Client } from './client.ts';
import { partSeenIn, type Scope, type Seen, seenIn, type Watch, type WatchEvent } from './history.ts';
import { Connection } from './sockets.ts';

/** What is known of a watch before its first event. */
export type WatchFacts = Pick<Watch, 'client' | 'front' | 'opened' | 'least' | 'after' | 'look'>;

interface TableJson {
  readonly columnDefinitions: readonly unknown[] | null;
  readonly rows: readonly { readonly object: Record<string, unknown> }[];
}

export class RunningWatch {
  readonly connection = new Connection();
  readonly scope: Scope;
  readonly facts: WatchFacts;
  readonly #client: Client;
  readonly #events: WatchEvent[] = [];
  #expired: number | undefined;
  #chunk = 0;
  #tables = 0;
  /** Reads whatever comes, at once. */
  isEager = false;

  constructor(client: Client, scope: Scope, facts: WatchFacts) {
    this.#client = client;
    this.scope = scope;
    this.facts = facts;
    const { connection } = this;
    connection.onChunk = (chunk) => this.#read(chunk);
    connection.isFull = () => !this.isEager && client.random.below(5) === 0;
  }

  /** The revision that a next watch would go on from; undefined when nothing is known. */
  get position(): number | undefined {
    return this.#events.at(-1)?.object.revision ?? this.facts.after;
  }

  get isExpired(): boolean {
    return this.#expired !== undefined;
  }

  get record(): Watch {
    const { connection, scope } = this;
    const { status, isOver, writesWhileFull } = connection;
    const refused = status === 404 ? 'absent' : 'refused';
    const end = this.isExpired ? 'expired' : status >= 400 ? refused : isOver ? 'over' : 'open';
    const over = this.#expired === undefined ? {} : { over: this.#expired };
    return { ...scope, ...this.facts, events: this.#events, end, ...over, writesWhileFull };
  }

  #read(chunk: string): void {
    if (this.connection.status !== 200) return;
    const { world, number, problems } = this.#client;
    const chunkNumber = this.#chunk++;
    for (const line of chunk.split('\n')) {
      if (line.trim() === '') continue;
      const { type, object } = JSON.parse(line) as { type: string; object: Record<string, unknown> };
      world.trace(`watch of client ${number} @${this.facts.opened}: ${type} ${told(object)}`);
      if (type !== 'ERROR') this.#events.push({ type, object: this.#seen(object), chunk: chunkNumber });
      else if (object.code === 410) this.#expired = world.moment();
      else problems.push(`a watch ended with ${line}`);
    }
  }

  #seen(object: Record<string, unknown>): Seen {
    const { storageKey } = this.scope;
    switch (this.facts.look) {
      case 'whole':
        return seenIn(storageKey, object);
      case 'partial':
        if (object.kind !== 'PartialObjectMetadata')
          this.#client.problems.push(`a watch showed a ${String(object.kind)}`);
        return partSeenIn(storageKey, object);
      case 'table':
        return partSeenIn(storageKey, this.#row(object as unknown as TableJson));
    }
  }

  /** The object of an event's one row. Only the first table says what its columns are. */
  #row({ columnDefinitions, rows }: TableJson): Record<string, unknown> {
    const isFirst = this.#tables++ === 0;
    if (isFirst !== (columnDefinitions ?? []).length > 0 || rows.length !== 1) {
      this.#client.problems.push(
        `table ${this.#tables} of a watch has ${rows.length} rows, columns: ${columnDefinitions}`,
      );
    }
    return rows[0]!.object;
  }
}

/** What a trace says of an answered object. */
export function told({ kind, metadata, message }: Record<string, unknown>): string {
  if (kind === 'Status') return String(message ?? 'done');
  return (metadata as { readonly resourceVersion?: string } | undefined)?.resourceVersion ?? '';
}
