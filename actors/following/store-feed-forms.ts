// Publications of the store as they cross threads (runtime/flat-form.ts): one for each batch and follower.
import type { TellMessage } from '../../runtime/actor.ts';
import type { FlatForm, FlatForms } from '../../runtime/flat-form.ts';
import type { StoreFeedTells } from '../store/protocol.ts';

type Published = TellMessage<{ asks: Record<never, never>; tells: StoreFeedTells }, 'storeBatch'>;

/** A publication that brings no slabs, and nothing new of what cannot be read: nearly every one. */
const PUBLISHED: FlatForm<Published> = {
  write(published, fields) {
    const { incarnation, sequence, after, lastRevision, compactedRevision, runs, movedRuns } = published;
    if (published.newSlabs.length > 0 || published.unreadable !== undefined) return false;
    fields.push(incarnation, sequence, after, lastRevision, compactedRevision);
    for (const numbers of [runs, movedRuns]) {
      fields.push(numbers.length);
      for (const number of numbers) fields.push(number);
    }
    return true;
  },
  read(fields) {
    const incarnation = fields.number();
    const sequence = fields.number();
    const after = fields.number();
    const lastRevision = fields.number();
    const compactedRevision = fields.number();
    const runs = fields.list(fields.number(), () => fields.number());
    const movedRuns = fields.list(fields.number(), () => fields.number());
    return {
      type: 'storeBatch',
      incarnation,
      sequence,
      after,
      lastRevision,
      compactedRevision,
      runs,
      movedRuns,
      newSlabs: [],
    };
  },
};

/** What everyone who follows the store is told. */
export const FEED_FORMS: FlatForms = { messages: { storeBatch: PUBLISHED } };
