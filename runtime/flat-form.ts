// How messages of some types are laid out as primitives in the array that crosses a thread. The structured clone visits an
// object property by property and names each of them, which for small nested messages is most of what sending one costs.
// An actor states its forms with its facts; a message that has none is cloned as it is.

/** One type of message, or the answers to it. Methods, so that a form of a message is a form of a message. */
export interface FlatForm<M extends object = object> {
  /** Appends the fields of a message. False for one that it has no room for: that is cloned, and what was appended forgotten. */
  write(message: M, fields: unknown[]): boolean;
  /** The message that was written, but for its `payload`, which the link puts back. */
  read(fields: FieldReader): M;
}

/** The forms of what one actor is sent, by the type of the message, and of what it answers to that type. */
export interface FlatForms {
  readonly messages: Readonly<Record<string, FlatForm>>;
  readonly answers?: Readonly<Record<string, FlatForm>>;
}

/** Reads fields in their order. Whoever reads says what it expects: both ends are of one build. */
export class FieldReader {
  private fields: readonly unknown[] = [];
  private at = 0;

  /** Goes to a place in an array. */
  from(fields: readonly unknown[], at: number): this {
    this.fields = fields;
    this.at = at;
    return this;
  }

  number(): number {
    return this.fields[this.at++] as number;
  }

  text(): string {
    return this.fields[this.at++] as string;
  }

  /** So many of what `read` reads. */
  list<T>(count: number, read: () => T): T[] {
    const list: T[] = [];
    for (let left = count; left > 0; left--) list.push(read());
    return list;
  }
}

interface NumberedForm {
  readonly number: number;
  readonly form: FlatForm;
}

/** The forms of one actor, numbered alike on every thread. */
export class FlatFormTable {
  private readonly byType = new Map<string, NumberedForm>();
  private readonly byNumber: readonly FlatForm[];
  private readonly answers: ReadonlyMap<string, FlatForm>;

  constructor({ messages, answers = {} }: FlatForms) {
    this.byNumber = Object.values(messages);
    Object.entries(messages).forEach(([type, form], number) => {
      this.byType.set(type, { number, form });
    });
    this.answers = new Map(Object.entries(answers));
  }

  ofMessage(message: object): NumberedForm | undefined {
    return this.byType.get((message as { readonly type: string }).type);
  }

  numbered(number: number): FlatForm {
    return this.byNumber[number]!;
  }

  ofAnswerTo(message: object): FlatForm | undefined {
    return this.answers.get((message as { readonly type: string }).type);
  }
}
