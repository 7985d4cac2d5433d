// Every rule of merging at every sort of place.
import test from 'ava';
import { isStatusError } from '../../../../api/status/status.ts';
import { LiveObject } from './live-object.ts';
import { MERGE_PLACES, type Member, type MergePlace } from './merge-places.ts';
import { MERGE_RULES, type Turn } from './merge-rules.ts';

function take(live: LiveObject, place: MergePlace, turn: Turn): void {
  if (turn[0] === 'set') live.update(turn[1], (object) => place.change(object, turn[2], turn[3]));
  else live.apply(turn[1], place.given(turn[2]), { force: turn[0] === 'force' });
}

let cases = 0;
for (const place of MERGE_PLACES) {
  for (const { rule, turns, values, owners, refused, needs } of MERGE_RULES) {
    if (needs !== undefined && !needs(place)) continue;
    cases++;
    test(`${place.of} ${rule}`, (t) => {
      const live = new LiveObject(place.kind);
      for (const turn of turns) take(live, place, turn);
      if (refused !== undefined) {
        const [manager, said] = refused;
        const error = t.throws(() => live.apply(manager, place.given(said)));
        t.true(isStatusError(error) && error.status.code === 409, String(error));
        const named = isStatusError(error) ? error.status.details?.causes?.map(({ field }) => field) : undefined;
        t.true(named?.includes(place.path('p')), JSON.stringify(named));
      }
      for (const member of ['p', 'q'] as const satisfies readonly Member[]) {
        if (member === 'q' && !place.hasNeighbour) continue;
        const value = values[member];
        t.deepEqual(place.read(live.content, member), value === undefined ? undefined : place.held(value), member);
      }
      for (const [member, names] of Object.entries(owners)) {
        t.deepEqual(live.ownersOf(place.path(member as Member)), names.map(fullName), member);
      }
    });
  }
}

test('there are enough cases', (t) => {
  t.true(cases >= 150, String(cases));
});

function fullName(name: string): string {
  return name === name.toUpperCase() ? `${name.toLowerCase()}/Update` : `${name}/Apply`;
}
