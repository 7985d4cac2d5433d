// How bugs are planted: a server that differs in its engine, in a method, or in what one actor asks another.

import type { ServerSettings } from '../../actors/server-settings.ts';
import type { Operation, PutOperation, Transaction } from '../../actors/store/protocol.ts';
import type {
  ActorContext,
  ActorDefinition,
  ActorName,
  ActorProtocols,
  AskMessage,
  AskOptions,
  AskType,
  Ref,
} from '../../runtime/actor.ts';
import { actorsFor } from '../server/every-actor.ts';
import type { FaultPlan } from './faults.ts';
import type { Mix } from './workload.ts';
import { SERVER, type Server } from './world.ts';

export interface PlantedBug {
  readonly name: string;
  /** What some problem that the checkers report must look like. */
  readonly sign: RegExp;
  /** A seed under which it once showed, when the first ones do not show it: tried before the others. */
  readonly shownBy?: number;
  /** Where it shows soonest; the seed's own faults when absent. */
  readonly faults?: FaultPlan;
  /** The steps among which it shows; the seed's own when absent. */
  readonly mix?: Mix;
  /** Puts the bug in; the server has it until `remove` is called. */
  readonly plant: () => { readonly server: Server; readonly remove: () => void };
}

export const NOTHING = (): void => {};

/** A server that differs in its engine. */
export function withEngine(engine: Server['engine']): ReturnType<PlantedBug['plant']> {
  return { server: { ...SERVER, engine }, remove: NOTHING };
}

/** A method of a class, replaced until it is put back. */
export function withMethod<C extends object, K extends keyof C & string>(
  prototype: C,
  method: K,
  replacement: (original: C[K]) => C[K],
): ReturnType<PlantedBug['plant']> {
  const before = Object.getOwnPropertyDescriptor(prototype, method)!;
  Object.defineProperty(prototype, method, { ...before, value: replacement(before.value as C[K]) });
  return { server: SERVER, remove: () => void Object.defineProperty(prototype, method, before) };
}

/** A server in which one actor asks another something else than it means to. */
export function withAsks<A extends ActorName, T extends AskType<ActorProtocols[A]>>(
  asker: ActorName,
  asked: A,
  type: T,
  change: (message: AskMessage<ActorProtocols[A], T>) => AskMessage<ActorProtocols[A], T>,
): ReturnType<PlantedBug['plant']> {
  type Asked = Ref<ActorProtocols[A]>;
  const wrapped = (ref: Asked): Asked => {
    const asked = (message: AskMessage<ActorProtocols[A], T>): AskMessage<ActorProtocols[A], T> =>
      message.type === type ? change(message) : message;
    const ask = (message: AskMessage<ActorProtocols[A], T>, options: AskOptions): Promise<unknown> =>
      ref.ask(asked(message), options);
    const askSoon = (message: AskMessage<ActorProtocols[A], T>, options: AskOptions): unknown =>
      ref.askSoon(asked(message), options);
    return {
      name: ref.name,
      ask: ask as Asked['ask'],
      askSoon: askSoon as Asked['askSoon'],
      tell: (message) => ref.tell(message),
      tellSoon: (message) => ref.tellSoon(message),
    };
  };
  const inContext = (context: ActorContext): ActorContext => ({
    ...context,
    ref: <B extends ActorName>(name: B): Ref<ActorProtocols[B]> =>
      (name as string) === asked
        ? (wrapped(context.ref(asked)) as unknown as Ref<ActorProtocols[B]>)
        : context.ref(name),
  });
  const changed = (definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> => ({
    ...definition,
    create: (context, settings) => definition.create(inContext(context), settings),
  });
  const actors: Server['actors'] = (outside) =>
    actorsFor(outside).map((definition) => (definition.actor === asker ? changed(definition) : definition));
  return { server: { ...SERVER, actors }, remove: NOTHING };
}

/** A server whose admission sends other transactions to the store than it means to. */
export function withTransactions(
  change: (operation: Operation, value: (put: PutOperation) => string) => Operation,
): ReturnType<PlantedBug['plant']> {
  return withAsks<'store', 'commit'>('admission', 'store', 'commit', (message) => {
    const payload = Buffer.from(message.payload);
    const value = ({ valueOffset, valueLength }: PutOperation): string =>
      payload.toString('utf8', valueOffset, valueOffset + valueLength);
    const transactions = message.transactions.map(
      (transaction): Transaction => ({
        ...transaction,
        operations: transaction.operations.map((operation) => change(operation, value)),
      }),
    );
    return { ...message, transactions };
  });
}

/** Whether it writes an object of one of these types. */
export function isPutOf(operation: Operation, storageKeys: readonly string[]): operation is PutOperation {
  return !('delete' in operation) && storageKeys.some((storageKey) => operation.key.startsWith(`${storageKey}/`));
}
