// The part of a ClusterPort that events go through: v1 of their own group or, where the server does not serve that
// (`--runtime-config`), core/v1, which says the same in other words.
import { eventInCore } from '../../../api/conversion/events.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ClusterPort } from './cluster-port.ts';

const CORE = 'v1';
const NOT_FOUND = 404;
const HTTP_ERROR = 400;

/** Writes of Event objects of a version. Each answers the HTTP status code. */
export interface EventWrites {
  readonly create: (apiVersion: string, namespace: string, event: object) => Promise<number>;
  readonly patch: (apiVersion: string, namespace: string, name: string, patch: object) => Promise<number>;
}

export function eventPort(dialect: Dialect, writes: EventWrites): Pick<ClusterPort, 'createEvent' | 'patchEvent'> {
  const own = `${dialect.spell('events.@group')}/v1`;
  let served = own;
  const create = (apiVersion: string, namespace: string, event: object): Promise<number> => {
    const said = apiVersion === CORE ? eventInCore(asObject(event)) : event;
    return writes.create(apiVersion, namespace, { kind: 'Event', apiVersion, ...said });
  };
  return {
    async createEvent(namespace, event) {
      const code = await create(served, namespace, event);
      if (code !== NOT_FOUND || served === CORE) return code;
      const codeOfCore = await create(CORE, namespace, event);
      // A namespace that is not there is not found in any version.
      if (codeOfCore < HTTP_ERROR) served = CORE;
      return codeOfCore;
    },
    patchEvent: (namespace, name, patch) => writes.patch(served, namespace, name, patch),
  };
}
