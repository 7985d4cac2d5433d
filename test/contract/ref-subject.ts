// The actor that the ref contract is tried on. It is told what to do: answer, answer later, refuse, throw, break.

import type { Actor, ActorContext, ActorDefinition, MessageOf, Protocol, Reply } from '../../runtime/actor.ts';
import { OrchError, type OrchErrorCode } from '../../runtime/errors.ts';
import type { FlatForm, FlatForms } from '../../runtime/flat-form.ts';
import type { Roster } from '../../runtime/threads/roster.ts';
import { turn } from '../../runtime/turn.ts';

interface Words {
  readonly words: readonly string[];
  readonly payload?: Uint8Array;
}

export interface SubjectProtocol extends Protocol {
  readonly asks: {
    readonly echo: {
      readonly message: { readonly value: unknown; readonly payload?: Uint8Array; readonly extra?: Uint8Array };
      readonly reply: { readonly value: unknown; readonly payload?: Uint8Array; readonly extra?: Uint8Array };
    };
    /** Laid out flat on its way, and back, where there are at most three words. */
    readonly echoWords: { readonly message: Words; readonly reply: Words };
    /** Adds to the notes, and answers how many there are. */
    readonly noteAndCount: { readonly message: { readonly note: number }; readonly reply: number };
    /** Notes 1, asks itself soon to note 2, notes 3; answers once it has noted 2. */
    readonly noteAround: { readonly message: Record<never, never>; readonly reply: readonly number[] };
    readonly notes: { readonly message: Record<never, never>; readonly reply: readonly number[] };
    /** Answered by `release`. */
    readonly hold: { readonly message: { readonly key: string }; readonly reply: string };
    /** Answered with how the held bytes look, read back after the asker had time to change its own. */
    readonly bytesOf: { readonly message: { readonly payload: Uint8Array }; readonly reply: readonly number[] };
    readonly refuse: {
      readonly message: { readonly code: OrchErrorCode; readonly text: string; readonly details: unknown };
      readonly reply: never;
    };
    readonly throwPlain: { readonly message: { readonly text: string }; readonly reply: never };
    readonly answerTwice: { readonly message: Record<never, never>; readonly reply: string };
    /** How many bytes lie behind the payload and the extra bytes: what crossed the thread for them. */
    readonly memoryBehind: {
      readonly message: { readonly payload: Uint8Array; readonly extra: Uint8Array };
      readonly reply: { readonly payloadOffset: number; readonly extra: number };
    };
    readonly addShared: { readonly message: { readonly memory: SharedArrayBuffer }; readonly reply: null };
    readonly unsendable: { readonly message: Record<never, never>; readonly reply: unknown };
    readonly crash: { readonly message: Record<never, never>; readonly reply: never };
    readonly held: { readonly message: Record<never, never>; readonly reply: readonly string[] };
    /** The request that the message came with, and with it the ones that it asks itself then, and later by that number. */
    readonly requestNumber: {
      readonly message: { readonly alsoAsks?: boolean };
      readonly reply: readonly number[];
    };
  };
  readonly tells: {
    readonly note: { readonly note: number };
    /** Notes the request that the message came with. */
    readonly noteRequest: Record<never, never>;
    readonly release: { readonly key: string; readonly value: string };
  };
}

export const SUBJECT_MAILBOX_MAX = 16;

class Subject implements Actor<SubjectProtocol> {
  private readonly context: ActorContext;
  private readonly notes: number[] = [];
  private readonly held = new Map<string, Reply>();

  constructor(context: ActorContext) {
    this.context = context;
  }

  onMessage(message: MessageOf<SubjectProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'echo': {
        const { value, payload, extra } = message;
        reply.send({ value, ...(payload && { payload }), ...(extra && { extra }) });
        return;
      }
      case 'echoWords': {
        const { words, payload } = message;
        reply.send({ words, ...(payload && { payload }) });
        return;
      }
      case 'note':
        this.notes.push(message.note);
        return;
      case 'noteAndCount':
        reply.send(this.notes.push(message.note));
        return;
      case 'noteAround':
        this.noteAround(reply);
        return;
      case 'notes':
        reply.send([...this.notes]);
        return;
      case 'hold':
        this.held.set(message.key, reply);
        return;
      case 'noteRequest':
        this.notes.push(turn.requestNumber);
        return;
      case 'requestNumber':
        this.answerRequest(message.alsoAsks ?? false, reply);
        return;
      case 'held':
        reply.send([...this.held.keys()]);
        return;
      case 'release':
        this.held.get(message.key)?.send(message.value);
        this.held.delete(message.key);
        return;
      default:
        this.misbehave(message, reply);
    }
  }

  private noteAround(reply: Reply): void {
    this.notes.push(1);
    const self = this.context.refNamed<SubjectProtocol>('subject');
    const noted = self.askSoon({ type: 'noteAndCount', note: 2 }, { deadlineMs: 240_000 });
    this.notes.push(3);
    void Promise.resolve(noted).then(() => reply.send([...this.notes]));
  }

  private answerRequest(alsoAsks: boolean, reply: Reply): void {
    const { requestNumber } = turn;
    if (!alsoAsks) {
      reply.send([requestNumber]);
      return;
    }
    const self = this.context.refNamed<SubjectProtocol>('subject');
    const deadlineMs = 240_000;
    void self.ask({ type: 'requestNumber' }, { deadlineMs }).then(async (inTurn) => {
      const inNoTurn = await self.ask({ type: 'requestNumber' }, { deadlineMs });
      const named = await self.ask({ type: 'requestNumber' }, { deadlineMs, requestNumber });
      reply.send([requestNumber, ...inTurn, ...inNoTurn, ...named]);
    });
  }

  private misbehave(message: MessageOf<SubjectProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'bytesOf':
        this.context.timers.after(5, () => reply.send([...message.payload]));
        return;
      case 'refuse':
        reply.fail(new OrchError(message.code, message.text, message.details));
        return;
      case 'throwPlain':
        throw new RangeError(message.text);
      case 'answerTwice':
        reply.send('first');
        reply.send('second');
        reply.fail(new Error('third'));
        return;
      case 'memoryBehind':
        reply.send({ payloadOffset: message.payload.byteOffset, extra: message.extra.buffer.byteLength });
        return;
      case 'addShared':
        Atomics.add(new Int32Array(message.memory), 0, 1);
        reply.send(null);
        return;
      case 'unsendable':
        reply.send({ callback: () => {} });
        return;
      case 'crash':
        this.context.crash(new Error('told to'));
    }
  }
}

const FEW_WORDS = 3;

function wordsForm<M extends Words>(complete: (words: Words) => M): FlatForm<M> {
  return {
    write({ words }, fields) {
      fields.push(words.length, ...words);
      return words.length <= FEW_WORDS;
    },
    read: (fields) => complete({ words: fields.list(fields.number(), () => fields.text()) }),
  };
}

const NOTE: FlatForm<{ readonly type: 'note'; readonly note: number }> = {
  write({ note }, fields) {
    fields.push(note);
    return true;
  },
  read: (fields) => ({ type: 'note', note: fields.number() }),
};

const FORMS: FlatForms = {
  messages: { note: NOTE, echoWords: wordsForm(({ words }) => ({ type: 'echoWords', words })) },
  answers: { echoWords: wordsForm((words) => words) },
};

export const actors: readonly ActorDefinition<unknown>[] = [
  {
    actor: 'subject',
    mailboxMax: SUBJECT_MAILBOX_MAX,
    stopOrder: 1,
    flat: FORMS,
    create: (context) => new Subject(context) as unknown as Actor<Protocol>,
  },
];

export const roster: Roster<unknown> = { facts: actors, load: () => Promise.resolve(actors) };
