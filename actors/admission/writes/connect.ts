// Connections through the server (exec, attach, port forwarding, proxies): admission plugins are asked before one is opened.
// What they make of its options is what is asked for. Nothing is stored, and whether there is something to connect to is the
// ingress' to find out.
import { resourceNotFound } from '../../../api/status/failures.ts';
import { isStatusError } from '../../../api/status/status.ts';
import type { Attributes } from '../attributes.ts';
import type { ConnectReply, ConnectRequest } from '../protocol.ts';
import { admitOnce } from '../steps/steps.ts';
import type { WriteContext } from '../write-context.ts';
import { attributesOf } from './request-attributes.ts';

/** Whether it may be opened, and what plugins have made of its options. Rejects with what is no refusal. */
export async function admitConnection(write: WriteContext, request: ConnectRequest): Promise<ConnectReply> {
  const { group, version, resource } = request.target;
  const type = write.registry.byPath(group, version, resource);
  if (type === undefined) return { refused: resourceNotFound() };
  const attributes = attributesOf(write, { ...request, parameters: {} }, type, { operation: 'connect', dryRun: false });
  try {
    const options = await admitOnce(write, attributes, request.options);
    return warned({ refused: undefined, ...(options !== request.options && { changed: options }) }, attributes);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return warned({ refused: error.status }, attributes);
  }
}

/** Webhooks may warn of what they refuse as well. */
function warned(reply: ConnectReply, { warnings }: Attributes): ConnectReply {
  return warnings.length === 0 ? reply : { ...reply, warnings };
}
