// Bugs of those who wait, planted: for a revision that has yet to come here, or for the end of a wait, or are told how far they have come.
import { ReadGate } from '../../actors/hub/read-gate.ts';
import { Framing } from '../../actors/hub/watches/framing.ts';
import { Watchers } from '../../actors/hub/watches/watchers.ts';
import { NO_FAULTS } from './faults.ts';
import { type PlantedBug, withMethod } from './planting.ts';
import { AHEAD, mixNamed } from './workload.ts';

export const WAITING_BUGS: readonly PlantedBug[] = [
  {
    name: 'a read that waits is let go by the next change but one',
    faults: NO_FAULTS,
    sign: /it took \d+ ms/,
    plant: () => {
      let count = 0;
      return withMethod(
        ReadGate.prototype,
        'release',
        (original) =>
          function (this: ReadGate) {
            if (++count % 2 === 0) original.call(this);
          },
      );
    },
  },
  {
    name: 'a watch from a revision that has yet to come here begins before it',
    faults: { ...NO_FAULTS, laggardMsMax: 300 },
    mix: AHEAD,
    sign: /came where .* was due|nothing more was due/,
    plant: () =>
      withMethod(
        Watchers.prototype,
        'open',
        (original) =>
          function (this: Watchers, query, cache, initial) {
            const { afterRevision } = query;
            const here = cache.events.at(-1)?.revision ?? 0;
            const after = afterRevision === undefined ? {} : { afterRevision: Math.min(afterRevision, here) };
            original.call(this, { ...query, ...after }, cache, initial);
          },
      ),
  },
  {
    name: 'a bookmark promises one change more than has been told',
    shownBy: 6,
    mix: mixNamed('watches'),
    sign: /a bookmark promised/,
    plant: () =>
      withMethod(
        Framing.prototype,
        'bookmark',
        (original) =>
          function (this: Framing, cohort, revision, ...more) {
            return original.call(this, cohort, revision + 1, ...more);
          },
      ),
  },
];
