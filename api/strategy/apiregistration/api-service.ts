// APIServices: what this server answers for itself can be reached from the first moment on.
import { LOCAL, statusWith } from '../../aggregation/availability.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { partAt } from '../../json/object-fields.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';

function onCreate(object: JsonObject, { nowIso }: WriteFacts): JsonObject {
  const { service } = partAt(object, 'spec');
  const isLocal = service === undefined || service === null;
  return isLocal ? { ...object, status: statusWith({}, LOCAL, nowIso) } : object;
}

export const apiService: Strategy = { onCreate };
