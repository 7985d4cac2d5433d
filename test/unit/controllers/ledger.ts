// The objects there are, as the store acknowledges them: noted where it is asked to commit, so that a test can look at any moment.
import type { ServerSettings } from '../../../actors/server-settings.ts';
import type { Operation, StoreProtocol } from '../../../actors/store/protocol.ts';
import type { Actor, ActorDefinition, MessageOf, Reply } from '../../../runtime/actor.ts';
import type { Stored } from './stored.ts';

/** By key, as JSON. */
export class Ledger {
  readonly objects = new Map<string, string>();
  onRemoved: (name: string) => void = () => {};

  watching(definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> {
    return {
      ...definition,
      create: async (context, settings) => {
        const store = (await definition.create(context, settings)) as unknown as Actor<StoreProtocol>;
        const onMessage = store.onMessage.bind(store);
        store.onMessage = (message, reply) => {
          if (message.type !== 'commit') onMessage(message, reply);
          else onMessage(message, this.#noting(message, reply));
        };
        return store as unknown as ReturnType<ActorDefinition<ServerSettings>['create']>;
      },
    };
  }

  #noting(message: MessageOf<StoreProtocol> & { readonly type: 'commit' }, reply: Reply): Reply {
    // The payload is the store's from here on: what it says is taken now.
    const payload = Buffer.from(message.payload);
    return {
      isAwaited: true,
      fail: (error) => reply.fail(error),
      send: (value) => {
        const { results } = value as StoreProtocol['asks']['commit']['reply'];
        for (const [index, result] of results.entries()) {
          if (!result.ok) continue;
          const { operations, thenRemoves = [] } = message.transactions[index]!;
          for (const operation of operations) this.#note(operation, payload, result.revision);
          for (const key of thenRemoves) this.#remove(key);
        }
        reply.send(value);
      },
    };
  }

  #note(operation: Operation, payload: Buffer, revision: number): void {
    const { key } = operation;
    if ('delete' in operation) {
      this.#remove(key);
      return;
    }
    const { valueOffset, valueLength } = operation;
    const object = JSON.parse(payload.toString('utf8', valueOffset, valueOffset + valueLength)) as Stored;
    object.metadata.resourceVersion = String(revision);
    this.objects.set(key, JSON.stringify(object));
  }

  #remove(key: string): void {
    this.objects.delete(key);
    this.onRemoved(key.slice(key.lastIndexOf('/') + 1));
  }
}
