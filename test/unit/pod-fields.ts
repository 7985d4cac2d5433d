// What a feed's event answers of the fields that are stored with a pod, for tests whose events lie in no record.
import type { JsonObject } from '../../api/json/json-value.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import { selectableValues } from '../../api/selectors/selectable-values.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';

const FIELDS = createRegistry(DIALECTS.orch).storageType('core/pods')!.storedFields;

/** `fieldIs` of the event of a pod. */
export function fieldIsOf(pod: object): FeedEvent['fieldIs'] {
  return (index, text) => selectableValues(pod as JsonObject, FIELDS)[index] === text.toString();
}
