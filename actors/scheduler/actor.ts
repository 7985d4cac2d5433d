// The scheduler as part of the server: its options, out of the server's settings.
import { hostname } from 'node:os';
import { DIALECTS } from '../../config/dialect.ts';
import { type DefineActor, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { type SchedulerOptions, schedulerActor } from './scheduler.ts';

export const define: DefineActor = () => withSettings(schedulerActor, schedulerOptions);

function schedulerOptions(settings: ServerSettings): SchedulerOptions {
  const { dialect, schedulerConfiguration: configuration, schedulingRecord: record, storeAccess } = settings;
  return {
    dialect: DIALECTS[dialect],
    host: hostname(),
    record,
    waitsToLead: storeAccess !== undefined,
    ...(configuration === undefined ? {} : { configuration }),
  };
}
