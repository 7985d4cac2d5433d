// What a server tells its own scheduler about who schedules: each second, as it is known then. Heard here and passed on.
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { ActorContext, ActorDefinition, ActorName, ActorProtocols, Ref } from '../../runtime/actor.ts';

/** `newLife` is asked with each life of the controllers' actor for what to call when that says that this server schedules. */
export function withHeardLeaders(
  definition: ActorDefinition<ServerSettings>,
  newLife: () => () => void,
): ActorDefinition<ServerSettings> {
  if (definition.actor !== 'controllers') return definition;
  const create: typeof definition.create = (context, settings) =>
    definition.create(withHeardTells(context, newLife()), settings);
  return { ...definition, create };
}

type Scheduler = Ref<ActorProtocols['scheduler']>;

function withHeardTells(context: ActorContext, onLead: () => void): ActorContext {
  const heard = (ref: Scheduler): Scheduler => ({
    name: ref.name,
    ask: ref.ask.bind(ref),
    askSoon: ref.askSoon.bind(ref),
    tellSoon: ref.tellSoon.bind(ref),
    tell(message, requestNumber) {
      if ('leads' in message && message.leads === true) onLead();
      return ref.tell(message, requestNumber);
    },
  });
  return {
    ...context,
    ref: <A extends ActorName>(name: A): Ref<ActorProtocols[A]> =>
      (name as string) === 'scheduler'
        ? (heard(context.ref('scheduler')) as unknown as Ref<ActorProtocols[A]>)
        : context.ref(name),
  };
}
