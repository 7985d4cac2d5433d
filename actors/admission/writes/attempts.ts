// The one loop of the write path: reads and decides, commits what was decided if nobody came in between, and else begins
// again.
import { DefinitionChanged } from '../../../api/custom/definitions/definition-changed.ts';
import { internalError } from '../../../api/status/failures.ts';
import type { Status } from '../../../api/status/status.ts';
import { StatusError } from '../../../api/status/status.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { Soon } from '../../../runtime/soon.ts';
import { objectKey } from '../../../storage/object-key.ts';
import type { PublishedPlace, TransactionResult } from '../../store/protocol.ts';
import type { Attributes } from '../attributes.ts';
import { commitOne } from '../commits/commit.ts';
import { type Draft, draftWithoutOwners } from '../commits/draft.ts';
import type { Turn } from '../turns.ts';
import { withItsWarnings } from '../warned-refusal.ts';
import type { WriteContext } from '../write-context.ts';

/** What a try has come to: an answer that needs no commit, or what is to be committed for one. */
export type Attempt<Answer> = { readonly answer: Answer } | Commitment<Answer>;

export interface Commitment<Answer> {
  readonly draft: Draft;
  /** The answer once it is committed; the place of an object that was put. */
  readonly committed: (place: PublishedPlace) => Answer;
  /** Throws where a refusal of the store is the end of it; absent: every refusal is a lost race. */
  readonly lost?: (refusal: Refusal) => void | Promise<void>;
}

export type Refusal = Extract<TransactionResult, { readonly ok: false }>;

/** A write without a precondition is made again this often before the client hears of the conflict. */
export const TRIES_MAX = 32;

/**
 * Tries until something is committed or answered.
 *
 * @param attempt reads the present and decides; `undefined`: what it has read is no longer so.
 * @param gaveUp what to answer when every try was lost.
 * @param attributes of a write that plugins hear of: they may want to commit it together with others, and warn its client.
 */
export async function untilCommitted<Answer>(
  write: WriteContext,
  triesMax: number,
  attempt: (tries: number) => Soon<Attempt<Answer> | undefined>,
  gaveUp: () => Status,
  attributes: Attributes,
): Promise<Answer> {
  let turn = write.turns.areTaken ? await ownTurn(write, attributes) : undefined;
  try {
    for (let tries = 0; tries < triesMax; tries++) {
      const attempted = attempt(tries);
      const decided = attempted instanceof Promise ? await attempted : attempted;
      if (decided === undefined) continue;
      if ('answer' in decided) return decided.answer;
      const commit = attributes.commitBy ?? commitOne;
      let result: TransactionResult;
      try {
        result = await commit(write, decided.draft);
      } catch (error) {
        const smaller = smallerFor(error, attributes, decided.draft);
        if (smaller === undefined) throw error;
        result = await commit(write, smaller);
      }
      if (result.ok) return decided.committed(result.places[0]!);
      if (result.reason === 'unreadable') throw new StatusError(internalError(result.why ?? result.key));
      if (isOfDefinition(write, attributes, result.key)) throw new DefinitionChanged();
      await decided.lost?.(result);
      if (turn?.key === result.key || !isInLine(attributes, decided.draft, result)) continue;
      turn?.end();
      turn = await write.turns.take(result.key);
    }
    throw new StatusError(gaveUp());
  } catch (error) {
    // Who refuses it in the end need not have heard of its warnings.
    throw withItsWarnings(error, attributes);
  } finally {
    turn?.end();
  }
}

/**
 * Of what the store finds too large, the same without those who own its fields, who may take as much room as all else; undefined
 * where the write is of nothing else (it was applied), where there are none, and for any other refusal.
 */
function smallerFor(error: unknown, { type, asked }: Attributes, draft: Draft): Draft | undefined {
  if (!isOrchError(error, 'StorageTooLarge') || asked.operation === 'delete' || !asked.isTracked) return undefined;
  return draftWithoutOwners(draft, type);
}

/**
 * Whether those who lose a race for a key are to write it one after the other. What guards look after nobody of them writes; and
 * who commits many drafts together makes what they have in common in one go.
 */
function isInLine({ commitBy }: Attributes, draft: Draft, { reason, key }: Refusal): boolean {
  return reason !== 'guard' && (key === draft.key || commitBy === undefined);
}

/** Where others are waiting to write an object, one more gets into line: undefined where nobody is. */
function ownTurn({ turns }: WriteContext, { type, asked }: Attributes): Promise<Turn> | undefined {
  const key = objectKey(type.storageKey, asked.namespace, asked.name);
  return turns.isTaken(key) ? turns.take(key) : undefined;
}

function isOfDefinition({ definitionsKey }: WriteContext, { type: { custom } }: Attributes, key: string): boolean {
  return custom !== undefined && key === objectKey(definitionsKey, '', custom.definition.name);
}
