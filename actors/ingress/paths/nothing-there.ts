// What is answered at API paths where nobody serves anything. Below the groups and versions that there are it is a Status. Elsewhere it is
// the plain text that Kubernetes' servers give there: by it clients know that they have to say themselves what they asked for.
import type { Registry } from '../../../api/resources/registry.ts';
import { resourceNotFound } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { sendText } from '../reads/answers.ts';

const NOT_FOUND = 404;
const NO_PAGE = '404 page not found\n';

/** Answers, or throws, 404 for a path below a group (the core group is empty) and a version, which is empty where none is asked for. */
export function answerNothingThere(exchange: Exchange, registry: Registry, group: string, version: string): void {
  if (registry.servedVersions(group).includes(version) || isBuiltIn(registry, group))
    throw new StatusError(resourceNotFound());
  sendText(exchange, NOT_FOUND, NO_PAGE);
}

/** Of these groups Kubernetes knows the versions that it does not serve, too. */
function isBuiltIn(registry: Registry, group: string): boolean {
  return registry.all().some((type) => type.group === group && type.custom === undefined);
}
