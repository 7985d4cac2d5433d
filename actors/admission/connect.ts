// Connections through the server (exec, attach, port forwarding, proxies): admission plugins are asked before one is opened.
// What they make of its options is what is asked for. Nothing is stored, and whether there is something to connect to is the
// ingress' to find out.
import type { JsonObject } from '../../api/json-value.ts';
import { resourceNotFound } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { ConnectRequest } from './protocol.ts';
import { attributesOf } from './request-attributes.ts';
import { admitOnce } from './steps.ts';
import type { WriteContext } from './write-context.ts';

/** What plugins have made of the options; undefined: nothing. Rejects with the StatusError of who refuses the connection. */
export async function admitConnection(write: WriteContext, request: ConnectRequest): Promise<JsonObject | undefined> {
  const { group, version, resource } = request.target;
  const type = write.registry.byPath(group, version, resource);
  if (type === undefined) throw new StatusError(resourceNotFound());
  const attributes = attributesOf(write, { ...request, parameters: {} }, type, { operation: 'connect', dryRun: false });
  const options = await admitOnce(write, attributes, request.options);
  return options === request.options ? undefined : options;
}
