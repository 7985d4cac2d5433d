// Which checks of the start the server has: those of the objects that its controllers make, told to the ingress, which shows
// them before the controllers answer.
import { DIALECTS } from '../config/dialect.ts';
import type { ActorContext } from '../runtime/actor.ts';
import { hookChecks } from './controllers/bootstrap/bootstrap-objects.ts';
import { settledOptions } from './controllers/settled-options.ts';
import type { ServerSettings } from './server-settings.ts';

/** Their names; none where no controllers are placed. */
export function startHooks(settings: ServerSettings, context: ActorContext): readonly string[] {
  if (context.refs('controllers').length === 0) return [];
  return hookChecks(DIALECTS[settings.dialect], settledOptions(settings, context));
}
