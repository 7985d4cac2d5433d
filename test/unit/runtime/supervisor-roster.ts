// Actors that break on request, for the supervisor's tests.

import { appendFileSync, existsSync } from 'node:fs';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Protocol, Reply } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { Roster } from '../../../runtime/threads/roster.ts';

/** What the supervisor's tests hand to the actors: where to write what happened, and how to behave. */
export interface TestOptions {
  readonly journal: string;
  /** The driver makes the worker do this as soon as the file `<journal>.go` is there. */
  readonly mischief?: Mischief;
  readonly failIn?: 'create' | 'start';
  /** What the worker's start began is done when that file is there. */
  readonly settlesLate?: boolean;
}

export type Mischief = 'crash' | 'throwInTimer' | 'throwUncaught' | 'rejectUnhandled' | 'exit' | 'hang';

export interface WorkerProtocol extends Protocol {
  readonly asks: {
    readonly pid: { readonly message: Record<never, never>; readonly reply: string };
    readonly misbehave: { readonly message: { readonly mischief: Mischief }; readonly reply: never };
  };
  readonly tells: Record<never, never>;
}

class BreakableActor implements Actor<WorkerProtocol> {
  private readonly context: ActorContext;
  private readonly note: (text: string) => void;

  constructor(context: ActorContext, note: (text: string) => void) {
    this.context = context;
    this.note = note;
  }

  async start(): Promise<void> {
    this.note('started');
  }

  async stop(): Promise<void> {
    this.note('stopped');
  }

  drain(): void {
    this.note('drained');
  }

  onCrash(): void {
    this.note('closed in an emergency');
  }

  peerRestarted(name: string): void {
    this.note(`heard that ${name} restarted`);
  }

  onMessage(message: MessageOf<WorkerProtocol>, reply: Reply): void {
    if (message.type === 'pid') reply.send(this.context.random.uuid());
    else MISCHIEF[message.mischief](this.context);
  }
}

const MISCHIEF: Readonly<Record<Mischief, (context: ActorContext) => void>> = {
  crash: (context) => context.crash(new Error('told to crash')),
  throwInTimer: (context) => context.timers.soon(() => context.crash(new Error('in a timer'))),
  throwUncaught: () =>
    void setImmediate(() => {
      throw new Error('nobody catches this');
    }),
  rejectUnhandled: () => void Promise.reject(new Error('nobody handles this')),
  exit: () => process.exit(7),
  hang: () => {
    for (;;);
  },
};

/** Makes the worker misbehave and then watches it come back. */
class Driver implements Actor<Protocol> {
  private readonly context: ActorContext;
  private readonly note: (text: string) => void;
  private readonly mischief: Mischief | undefined;
  private readonly go: string;

  constructor(context: ActorContext, note: (text: string) => void, options: TestOptions) {
    this.context = context;
    this.note = note;
    this.mischief = options.mischief;
    this.go = `${options.journal}.go`;
  }

  async start(): Promise<void> {
    this.note('started');
    const { mischief } = this;
    if (mischief === undefined) return;
    const waiting = this.context.timers.every(2, () => {
      if (!existsSync(this.go)) return;
      waiting.cancel();
      void this.provoke(mischief);
    });
  }

  async stop(): Promise<void> {
    this.note('stopped');
  }

  onMessage(): void {}

  peerRestarted(name: string): void {
    this.note(`heard that ${name} restarted`);
    void this.greet();
  }

  private async provoke(mischief: Mischief): Promise<void> {
    const worker = this.context.refNamed<WorkerProtocol>('worker');
    await worker.ask({ type: 'misbehave', mischief }, { deadlineMs: 240_000 }).catch((error: OrchError) => {
      this.note(`ask failed with ${error.code}`);
    });
  }

  private async greet(): Promise<void> {
    await this.context.refNamed<WorkerProtocol>('worker').ask({ type: 'pid' }, { deadlineMs: 240_000 });
    this.note('was answered again');
    this.context.metrics.counter('greetings_total', 'Answers after a restart.').add(1);
  }
}

const notes =
  (context: ActorContext, { journal }: TestOptions) =>
  (text: string) =>
    appendFileSync(journal, `${context.name} ${text}\n`);

const actors: readonly ActorDefinition<TestOptions>[] = [
  {
    actor: 'driver',
    mailboxMax: 100,
    stopOrder: 1,
    create: (context, options) => new Driver(context, notes(context, options), options) as Actor<Protocol>,
  },
  {
    actor: 'worker',
    mailboxMax: 100,
    stopOrder: 2,
    create: (context, options) => {
      if (options.failIn === 'create') throw new OrchError('StoreUnusable', 'the folder is locked', { by: 17 });
      const actor: Actor<WorkerProtocol> = new BreakableActor(context, notes(context, options));
      if (options.settlesLate) actor.hasSettled = () => existsSync(`${options.journal}.go`);
      if (options.failIn === 'start') actor.start = () => Promise.reject(new OrchError('BadConfiguration', 'no port'));
      return actor as unknown as Actor<Protocol>;
    },
  },
];

export const roster: Roster<TestOptions> = { facts: actors, load: () => Promise.resolve(actors) };
