// Bugs of custom types, planted: what there is under a definition is not what its history says.
import { CustomDefinitions } from '../../actors/controllers/extension/custom-definitions.ts';
import { ResourceCache } from '../../actors/hub/caches/resource-cache.ts';
import { AnswerForms } from '../../actors/ingress/reads/answer-forms.ts';
import { NO_FAULTS } from './faults.ts';
import { NOTHING, type PlantedBug, withAsks, withMethod } from './planting.ts';
import { mixNamed } from './workload.ts';

export const DEFINITION_BUGS: readonly PlantedBug[] = [
  {
    name: 'a definition goes before its instances do',
    mix: mixNamed('definitions'),
    sign: /was removed at \d+ with \d+ objects left/,
    plant: () =>
      withMethod(
        CustomDefinitions.prototype,
        'onEvent',
        (original) =>
          function (this: CustomDefinitions, event) {
            if (event.storageKey.endsWith('/customresourcedefinitions')) original.call(this, event);
          },
      ),
  },
  {
    name: 'a definition that is made anew shows what there was under the one before',
    mix: mixNamed('definitions'),
    faults: NO_FAULTS,
    sign: /from one edition to another|by the edition .* which was over/,
    plant: () => withMethod(ResourceCache.prototype, 'end', () => NOTHING),
  },
  {
    name: 'an instance is stored by a definition that has changed',
    mix: mixNamed('definitions'),
    sign: /was stored at \d+ by the edition|was created at \d+, its definition was being deleted/,
    plant: () =>
      withAsks<'store', 'commit'>('admission', 'store', 'commit', (message) => ({
        ...message,
        transactions: message.transactions.map(({ guards: _guards, ...transaction }) => transaction),
      })),
  },
  {
    name: 'an answer is made by the definition that there was when it was asked for',
    shownBy: 100,
    mix: mixNamed('definitions'),
    faults: NO_FAULTS,
    sign: /by the edition .* which was over/,
    plant: () =>
      withMethod(
        AnswerForms.prototype,
        'now',
        () =>
          (_exchange, form): typeof form =>
            form,
      ),
  },
];
