// What is wrong with an object by the rules of its kind. What takes no longer than a thread may be held is found here; a definition or
// a custom object that takes longer is checked in a pool of its own, which ends with a check that does not end.

import { withEffort } from '../../api/custom/checks/effort.ts';
import type { CustomType } from '../../api/custom/definitions/custom-type.ts';
import type { CustomSchema, CustomUpdate } from '../../api/custom/forms/custom-schema.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { internalError } from '../../api/status/failures.ts';
import type { FieldError } from '../../api/status/field-error.ts';
import { StatusError } from '../../api/status/status.ts';
import type { ObjectValidation, ValidatedType } from '../../api/validation/object-validation.ts';
import type { DialectName } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { isOrchError, OrchError } from '../../runtime/errors.ts';
import type { JobPool, PoolJob } from '../../runtime/jobs/job-pool.ts';
import type { CustomCheck, KindCheck, KindCheckSettings } from './check-worker.ts';
import { afterOthers } from './large-writes.ts';

const module = new URL('./check-worker.js', import.meta.url).href;
const CUSTOM_JOB: PoolJob<CustomCheck, readonly FieldError[] | undefined> = { module, name: 'errorsInCustom' };
const KIND_JOB: PoolJob<KindCheck, readonly FieldError[]> = { module, name: 'errorsInKind' };

/** Of the built-in kinds the one whose objects carry schemas. */
const LONG_KIND = 'CustomResourceDefinition';
/** Units of effort.ts that a check may take here: some ten milliseconds. */
const EFFORT_MAX = 40_000;
/** A check in the pool, with those before it. */
const CHECK_MS = 15_000;
/** Checks in the pool, and on their way: each holds its object as a text. */
const CHECKS_MAX = 16;

type Errors = readonly FieldError[];

export interface LongCheckParts {
  readonly context: Pick<ActorContext, 'timers' | 'log'>;
  readonly validation: ObjectValidation;
  readonly dialect: DialectName;
  readonly settings: KindCheckSettings;
  /** Undefined: everything is checked here, however long it takes. */
  readonly pool: JobPool | undefined;
}

export class LongChecks {
  readonly #parts: LongCheckParts;
  /** How the pool knows the schemas that it was told. */
  readonly #numbers = new WeakMap<CustomSchema, number>();
  #lastNumber = 0;
  #checks = 0;

  constructor(parts: LongCheckParts) {
    this.#parts = parts;
  }

  /** Errors of an object of a built-in kind that is to be created. Rejects with Overloaded or DeadlineExceeded. */
  errorsInNew(object: JsonObject, type: ValidatedType, isLarge: boolean): Errors | Promise<Errors> {
    const { validation } = this.#parts;
    if (type.kind !== LONG_KIND) return validation.create(object, type);
    return this.#errors(
      isLarge,
      () => validation.create(object, type),
      () => this.#inKind(object, undefined, type, ''),
    );
  }

  /** The same of one that is to replace a stored one. */
  errorsInChange(
    next: JsonObject,
    stored: JsonObject,
    type: ValidatedType,
    { subresource, isLarge }: { readonly subresource: string; readonly isLarge: boolean },
  ): Errors | Promise<Errors> {
    const { validation } = this.#parts;
    if (type.kind !== LONG_KIND) return validation.update(next, stored, type, subresource);
    return this.#errors(
      isLarge,
      () => validation.update(next, stored, type, subresource),
      () => this.#inKind(next, stored, type, subresource),
    );
  }

  /** Errors of a custom object, which is new where nothing is said of an update. Rejects likewise. */
  errorsInCustom(object: JsonObject, type: CustomType, update?: CustomUpdate): Errors | Promise<Errors> {
    return this.#errors(
      false,
      () => type.schema.errorsIn(object, update),
      () => this.#inCustom(object, type, update),
    );
  }

  async close(): Promise<void> {
    await this.#parts.pool?.close();
  }

  /** @param isTooMuch what is known to be too much is not tried here. */
  #errors(isTooMuch: boolean, here: () => Errors, there: () => Promise<Errors>): Errors | Promise<Errors> {
    if (this.#parts.pool === undefined) return here();
    if (isTooMuch) return there();
    return withEffort(EFFORT_MAX, here) ?? there();
  }

  #inKind(
    object: JsonObject,
    stored: JsonObject | undefined,
    { group, version, kind }: ValidatedType,
    subresource: string,
  ): Promise<Errors> {
    const { dialect, settings } = this.#parts;
    const type = { group, version, kind };
    const told = async (): Promise<KindCheck> => {
      const storedText = stored && (await this.#textOf(stored));
      return { dialect, settings, type, subresource, objectText: await this.#textOf(object), storedText };
    };
    return this.#bounded(told, (pool, check) => pool.run(KIND_JOB, check));
  }

  #inCustom(
    object: JsonObject,
    { schema, version: { schemaText } }: CustomType,
    update: CustomUpdate | undefined,
  ): Promise<Errors> {
    let number = this.#numbers.get(schema);
    if (number === undefined) {
      number = ++this.#lastNumber;
      this.#numbers.set(schema, number);
    }
    const asked = { number, schemaText: undefined, prefix: schema.prefix };
    const isStatusAlone = update?.isStatusAlone === true;
    const told = async (): Promise<CustomCheck> => {
      const storedText = update && !isStatusAlone ? await this.#textOf(update.before) : undefined;
      return { ...asked, isStatusAlone, storedText, objectText: await this.#textOf(object) };
    };
    return this.#bounded(told, async (pool, check) => {
      const known = await pool.run(CUSTOM_JOB, check);
      return known ?? (await pool.run(CUSTOM_JOB, { ...check, schemaText })) ?? [];
    });
  }

  /** Made in a turn of its own. */
  async #textOf(object: JsonObject): Promise<string> {
    await afterOthers(this.#parts);
    const text = JSON.stringify(object);
    await afterOthers(this.#parts);
    return text;
  }

  async #bounded<Check>(
    told: () => Promise<Check>,
    run: (pool: JobPool, check: Check) => Promise<Errors>,
  ): Promise<Errors> {
    if (this.#checks >= CHECKS_MAX) throw new OrchError('Overloaded', 'too many long checks are under way');
    this.#checks++;
    try {
      return await this.#inTime(run, await told());
    } finally {
      this.#checks--;
    }
  }

  async #inTime<Check>(run: (pool: JobPool, check: Check) => Promise<Errors>, check: Check): Promise<Errors> {
    const pool = this.#parts.pool!;
    const { timers, log } = this.#parts.context;
    let isLate = false;
    const timer = timers.after(CHECK_MS, () => {
      isLate = true;
      log.warn({}, 'a check of an object took too long, its thread is ended');
      void pool.close();
    });
    try {
      return await run(pool, check);
    } catch (error) {
      if (isLate) throw new OrchError('DeadlineExceeded', 'the check of the object took too long');
      if (isOrchError(error)) throw error;
      log.error({ err: error }, 'a check of an object failed');
      throw new StatusError(internalError('the object could not be checked'));
    } finally {
      timer.cancel();
    }
  }
}
