// The real actors, each of which breaks in the middle of a message when the test says so: by a file in the data directory
// named after the kind. Threads import this module in place of the real roster.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { roster as realRoster } from '../../actors/roster.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { Actor, ActorContext, ActorKind, MessageOf, Protocol, Reply } from '../../runtime/actor.ts';
import { breakFile } from './break-file.ts';

const CHECK_MS = 5;
const SILENCE_MS = 100;

class Breakable implements Actor<Protocol> {
  readonly #actor: Actor<Protocol>;
  readonly #context: ActorContext;
  readonly #file: string;
  #broken = false;

  constructor(actor: Actor<Protocol>, context: ActorContext, file: string) {
    this.#actor = actor;
    this.#context = context;
    this.#file = file;
    context.timers.every(CHECK_MS, () => this.#check());
  }

  async start(): Promise<void> {
    await this.#actor.start?.();
  }

  onMessage(message: MessageOf<Protocol>, reply: Reply): void {
    if (this.#broken) this.#context.crash(new Error('told to break'));
    this.#actor.onMessage(message, reply);
  }

  async stop(): Promise<void> {
    await this.#actor.stop?.();
  }

  onCrash(): void {
    this.#actor.onCrash?.();
  }

  peerRestarted(name: string): void {
    this.#actor.peerRestarted?.(name);
  }

  /** Whoever removes the file first is meant: there may be several of a kind. */
  #check(): void {
    if (this.#broken) return;
    try {
      rmSync(this.#file);
    } catch {
      return;
    }
    this.#broken = true;
    // Some actors hear nothing for a long time.
    this.#context.timers.after(SILENCE_MS, () => this.#context.crash(new Error('told to break')));
  }
}

export const roster: readonly ActorKind<ServerSettings>[] = realRoster.map((kind) => ({
  ...kind,
  create: async (context, settings) => {
    const actor = await kind.create(context, settings);
    return new Breakable(actor, context, join(settings.dataDirectory, breakFile(kind.kind)));
  },
}));
