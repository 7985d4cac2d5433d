// The real actors, each of which goes wrong when the test says so (faults.ts). Threads import this module in place of the real
// roster.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Protocol, Reply } from '../../runtime/actor.ts';
import { CrashError } from '../../runtime/errors.ts';
import type { Roster } from '../../runtime/threads/roster.ts';
import { everyActor } from './every-actor.ts';
import { type Fault, faultFile, MAILBOXES_VARIABLE } from './faults.ts';

const CHECK_MS = 5;
const SILENCE_MS = 100;

interface Held {
  readonly message: MessageOf<Protocol>;
  readonly reply: Reply;
}

class Breakable implements Actor<Protocol> {
  readonly #actor: Actor<Protocol>;
  readonly #context: ActorContext;
  readonly #file: string;
  #broken = false;
  /** What is not to arrive yet. */
  #held: Held[] | undefined;

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
    if (this.#held === undefined) this.#actor.onMessage(message, reply);
    else this.#held.push({ message, reply });
  }

  hasSettled(): boolean {
    return this.#actor.hasSettled?.() ?? true;
  }

  drain(): void {
    this.#actor.drain?.();
  }

  async stop(): Promise<void> {
    this.#release();
    await this.#actor.stop?.();
  }

  onCrash(): void | Promise<void> {
    return this.#actor.onCrash?.();
  }

  peerRestarted(name: string): void {
    this.#actor.peerRestarted?.(name);
  }

  #check(): void {
    if (this.#broken) return;
    const fault = this.#takeFault();
    if (fault === undefined) return;
    const { timers } = this.#context;
    if (fault.type === 'stall') {
      // Nothing on this thread goes on, its timers and sockets included.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fault.forMs);
    } else if (fault.type === 'hold') {
      this.#held ??= [];
      timers.after(fault.forMs, () => this.#release());
    } else {
      this.#broken = true;
      // Some actors hear nothing for a long time.
      timers.after(SILENCE_MS, () => this.#context.crash(new Error('told to break')));
    }
  }

  #takeFault(): Fault | undefined {
    try {
      const text = readFileSync(this.#file, 'utf8');
      rmSync(this.#file);
      return JSON.parse(text) as Fault;
    } catch {
      return undefined; // Not there, or another one's.
    }
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { message, reply } of held) {
      try {
        this.#actor.onMessage(message, reply);
      } catch (error) {
        if (error instanceof CrashError) throw error;
        reply.fail(error);
      }
    }
  }
}

const mailboxes = new Map(
  (process.env[MAILBOXES_VARIABLE] ?? '').split(',').map((setting) => setting.split('=') as [string, string]),
);

const actors: readonly ActorDefinition<ServerSettings>[] = everyActor.map((definition) => ({
  ...definition,
  mailboxMax: Number(mailboxes.get(definition.actor) ?? definition.mailboxMax),
  create: async (context, settings) => {
    const actor = await definition.create(context, settings);
    return new Breakable(actor, context, join(settings.dataDirectory, faultFile(definition.actor)));
  },
}));

export const roster: Roster<ServerSettings> = { facts: actors, load: () => Promise.resolve(actors) };
