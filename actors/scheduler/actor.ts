// The scheduler as part of the server: its options, out of the server's settings.
import { DIALECTS } from '../../config/dialect.ts';
import { type DefineActor, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { type SchedulerOptions, schedulerActor } from './scheduler.ts';

export const define: DefineActor = () => withSettings(schedulerActor, schedulerOptions);

function schedulerOptions({ dialect, schedulerConfiguration: configuration }: ServerSettings): SchedulerOptions {
  return { dialect: DIALECTS[dialect], ...(configuration === undefined ? {} : { configuration }) };
}
