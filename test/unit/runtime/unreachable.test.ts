// What becomes of a message that no case of a handler takes.
import test from 'ava';
import type { Actor, ActorDefinition, MessageOf, Protocol, Reply } from '../../../runtime/actor.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { startInProcess } from '../../../runtime/threads/in-process.ts';
import { unreachable } from '../../../runtime/unreachable.ts';

interface OneProtocol extends Protocol {
  readonly asks: {
    readonly known: { readonly message: Record<never, never>; readonly reply: 'yes' };
    readonly other: { readonly message: Record<never, never>; readonly reply: 'no' };
  };
  readonly tells: Record<never, never>;
}

class One implements Actor<OneProtocol> {
  onMessage(message: MessageOf<OneProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'known':
        reply.send('yes');
        return;
      case 'other':
        reply.send('no');
        return;
      default:
        unreachable(message);
    }
  }
}

const kind: ActorDefinition<unknown> = {
  actor: 'one',
  mailboxMax: 4,
  stopOrder: 1,
  create: () => new One() as unknown as Actor<Protocol>,
};

test('an ask that no case takes is refused at once, without a word of its content, and the actor goes on', async (t) => {
  const running = await startInProcess({ actors: [kind], options: {}, environment: realEnvironment });
  const ref = running.ref<OneProtocol>('one');
  const refused = ref.ask({ type: 'unheardOf', token: 'hunter2' } as never, { deadlineMs: 240_000 });
  const error = await t.throwsAsync(refused);
  t.is((error as { code?: string }).code, 'Refused');
  t.regex(error.message, /"unheardOf"/);
  t.notRegex(error.message, /hunter2/);
  t.is(await ref.ask({ type: 'known' }, { deadlineMs: 240_000 }), 'yes');
  await running.stop();
});

test('a switch names the type of a message, and of anything else at most what it is', (t) => {
  t.throws(() => unreachable('verb' as never), { message: /"verb"/ });
  t.throws(() => unreachable(7 as never), { message: /number/ });
  t.throws(() => unreachable(null as never), { message: /object/ });
});
