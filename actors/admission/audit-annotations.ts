// What plugins say of a write for its audit event. Owns the bounds, and what a further try takes back; which of it is recorded
// is decided where the level of the event is known.
import type { AuditAnnotation } from './protocol.ts';

/** What may be said of one write. */
const ANNOTATIONS_MAX = 100;
const LENGTH_MAX = 4096;
const NOTHING: readonly AuditAnnotation[] = Object.freeze([]);

/** Said under the attributes of one write: of its objects one after another, of each in one or more tries. */
export class AuditAnnotations {
  #said: readonly AuditAnnotation[] = NOTHING;
  /** How much of it was said of the objects before. */
  #before = 0;

  /** In the order they were said; no two have the same key. */
  get all(): readonly AuditAnnotation[] {
    return this.#said;
  }

  /** A try begins, counted from 0 for each object: what those before it said of the same object is taken back. */
  begin(tries: number): void {
    if (tries === 0) this.#before = this.#said.length;
    else if (this.#said.length > this.#before) this.#said = this.#said.slice(0, this.#before);
  }

  /** Whoever was first under a key keeps it: false where it was another value, and for what is more than an event is to carry. */
  say(annotation: AuditAnnotation): boolean {
    const { key, value, level } = annotation;
    const known = this.#said.find((one) => one.key === key);
    if (known !== undefined) return known.value === value;
    if (this.#said.length >= ANNOTATIONS_MAX) return false;
    if (level === 'Metadata' && key.length + value.length > LENGTH_MAX) return false;
    this.#said = [...this.#said, annotation];
    return true;
  }
}

/** A reply with what was said of its write, as far as its reader is to hear of it. */
export function annotated<R extends object>(
  reply: R,
  { auditAnnotations }: { readonly auditAnnotations: readonly AuditAnnotations[] },
): R & { readonly auditAnnotations?: readonly AuditAnnotation[] } {
  if (auditAnnotations.every(({ all }) => all.length === 0)) return reply;
  return { ...reply, auditAnnotations: auditAnnotations.flatMap(({ all }) => all).slice(0, ANNOTATIONS_MAX) };
}
