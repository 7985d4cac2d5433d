// Any turns of several managers at every sort of place, against a model of two members: who may change what, what is there
// and whose it is afterwards. Applies that differ in what they name commute, and one that is repeated makes no difference.
import test from 'ava';
import fc from 'fast-check';
import { isStatusError } from '../../../../api/status/status.ts';
import { casesOf } from '../../../server/effort.ts';
import { LiveObject } from './live-object.ts';
import { MERGE_PLACES, type Member, type MergePlace, type Values } from './merge-places.ts';

const MEMBERS: readonly Member[] = ['p', 'q'];
const RUN = { numRuns: casesOf(40), seed: 20_211_206 };

interface Turn {
  readonly kind: 'apply' | 'force' | 'set';
  readonly manager: string;
  readonly values: Values;
}

const value = fc.constantFrom('1', '2');
const values = fc.record({ p: value, q: value }, { requiredKeys: [] });
const turns = fc.array(
  fc.record({
    kind: fc.constantFrom<Turn['kind'][]>('apply', 'apply', 'force', 'set'),
    manager: fc.constantFrom('a', 'b', 'c'),
    values,
  }),
  { minLength: 1, maxLength: 8 },
);

/** What two members hold, and whose they are. */
class Model {
  readonly values = new Map<Member, string>();
  readonly owners = new Map<Member, Set<string>>();

  /** False: refused, and nothing has changed. */
  apply(manager: string, said: Values, force: boolean): boolean {
    const self = `${manager}/Apply`;
    const isTaken = (member: Member): boolean =>
      said[member] !== undefined &&
      said[member] !== this.values.get(member) &&
      [...this.#ownersOf(member)].some((owner) => owner !== self);
    if (!force && MEMBERS.some(isTaken)) return false;
    for (const member of MEMBERS) {
      const owners = this.#ownersOf(member);
      const wanted = said[member];
      if (wanted === undefined) {
        if (owners.delete(self) && owners.size === 0) this.values.delete(member);
      } else if (wanted === this.values.get(member)) owners.add(self);
      else {
        this.values.set(member, wanted);
        this.owners.set(member, new Set([self]));
      }
    }
    return true;
  }

  set(manager: string, member: Member, wanted: string): void {
    if (this.values.get(member) === wanted) return;
    this.values.set(member, wanted);
    this.owners.set(member, new Set([`${manager}/Update`]));
  }

  #ownersOf(member: Member): Set<string> {
    let owners = this.owners.get(member);
    if (owners === undefined) {
      owners = new Set();
      this.owners.set(member, owners);
    }
    return owners;
  }
}

/** What a place can say of these values. */
function sayable({ hasNeighbour }: MergePlace, { p, q }: Values): Values {
  return { ...(p === undefined ? {} : { p }), ...(q === undefined || !hasNeighbour ? {} : { q }) };
}

function isRefused(live: LiveObject, manager: string, place: MergePlace, said: Values, force: boolean): boolean {
  try {
    live.apply(manager, place.given(said), { force });
    return false;
  } catch (error) {
    if (isStatusError(error) && error.status.code === 409) return true;
    throw error;
  }
}

// An element goes with everything in it, whoever put it there: those have rules of their own.
for (const place of MERGE_PLACES.filter(({ isElement }) => !isElement)) {
  test(`${place.of} is what any turns of its managers make of it`, (t) => {
    fc.assert(
      fc.property(turns, (sequence: readonly Turn[]) => {
        const live = new LiveObject(place.kind);
        const model = new Model();
        // So that there is an object, and the place's surroundings are nobody's to give up.
        live.apply('base', place.given({}));
        for (const { kind, manager, values: drawn } of sequence) {
          const said = sayable(place, drawn);
          if (kind === 'set') {
            for (const member of MEMBERS) {
              const wanted = said[member];
              if (wanted === undefined || model.values.size === 0) continue;
              live.update(manager, (object) => place.change(object, member, wanted));
              model.set(manager, member, wanted);
            }
          } else {
            const isTaken = model.apply(manager, said, kind === 'force');
            t.is(isRefused(live, manager, place, said, kind === 'force'), !isTaken);
          }
          for (const member of MEMBERS) {
            if (member === 'q' && !place.hasNeighbour) continue;
            const held = model.values.get(member);
            t.deepEqual(place.read(live.content, member), held === undefined ? undefined : place.held(held));
            t.deepEqual([...live.ownersOf(place.path(member))].sort(), [...(model.owners.get(member) ?? [])].sort());
          }
        }
      }),
      { ...RUN, numRuns: casesOf(20) },
    );
  });
}

for (const place of MERGE_PLACES) {
  test(`${place.of}: an apply that is repeated makes no difference`, (t) => {
    fc.assert(
      fc.property(values, values, (first, second) => {
        const live = new LiveObject(place.kind);
        live.apply('a', place.given(sayable(place, first)));
        live.apply('b', place.given(sayable(place, second)), { force: true });
        live.apply('b', place.given(sayable(place, second)));
        t.true(live.unchanged);
      }),
      RUN,
    );
  });

  if (!place.hasNeighbour) continue;
  test(`${place.of}: applies of what lies beside each other can come in any order`, (t) => {
    fc.assert(
      fc.property(value, value, (p, q) => {
        const [left, right] = [{ p }, { q }];
        const objects = [
          [left, right],
          [right, left],
        ].map((order) => {
          const live = new LiveObject(place.kind);
          for (const said of order) live.apply(said === left ? 'left' : 'right', place.given(said));
          return live;
        });
        for (const member of MEMBERS) {
          t.deepEqual(place.read(objects[0]!.content, member), place.read(objects[1]!.content, member));
        }
        for (const manager of ['left', 'right']) {
          t.deepEqual([...objects[0]!.fieldsOf(manager)].sort(), [...objects[1]!.fieldsOf(manager)].sort());
        }
      }),
      RUN,
    );
  });
}
