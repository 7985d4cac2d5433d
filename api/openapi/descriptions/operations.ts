// What the OpenAPI documents say of operations in words: made of what is done and to what.

/** What an operation is about. */
export interface OperationSubject {
  readonly kind: string;
  /** The part of the object, where it is not the whole: "status". */
  readonly subresource?: string | undefined;
  /** The HTTP method that is passed on, for connections. */
  readonly method?: string | undefined;
}

const SENTENCES: Readonly<Record<string, (subject: OperationSubject) => string>> = {
  connect: (subject) => `Connects ${String(subject.method).toUpperCase()} requests to ${named(subject)}.`,
  delete: (subject) => `Deletes ${named(subject)}.`,
  deletecollection: ({ kind }) => `Deletes every object of kind ${kind} that the selectors choose.`,
  get: (subject) => `Reads ${named(subject)}.`,
  list: ({ kind }) => `Lists objects of kind ${kind}, or watches them when the parameter watch is true.`,
  patch: (subject) => `Changes parts of ${named(subject)}.`,
  post: (subject) =>
    subject.subresource === undefined ? `Creates an object of kind ${subject.kind}.` : `Creates ${named(subject)}.`,
  put: (subject) => `Replaces ${named(subject)}.`,
  watch: (subject) =>
    `Deprecated: watches ${named(subject)}. List with the parameters watch and fieldSelector instead.`,
  watchlist: ({ kind }) => `Deprecated: watches objects of kind ${kind}. List with the parameter watch instead.`,
};

/** One sentence; `action` is the operation's, as its extension names it. */
export function operationDescription(action: string, subject: OperationSubject): string {
  return SENTENCES[action]!(subject);
}

function named({ kind, subresource }: OperationSubject): string {
  const whole = `the object of kind ${kind} that is named`;
  return subresource === undefined ? whole : `the ${subresource} of ${whole}`;
}
